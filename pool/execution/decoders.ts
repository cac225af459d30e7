import sharp from 'sharp';
import { isolatedLoaders } from '../formats/source-formats.ts';

/** libvips decoders that the service never uses. sharp's own binaries include only some of them. */
const unused = [
  'Analyze',
  'Csv',
  'DcRaw',
  'Fits',
  'Jp2k',
  'Magick',
  'Magick7',
  'Mat',
  'Matrix',
  'Nifti',
  'OpenExr',
  'Openslide',
  'Pdf',
  'Ppm',
  'Rad',
  'Raw',
  'Vips',
].map((name) => `VipsForeignLoad${name}`);

/** While it is blocked, an Ultra HDR image is decoded as a JPEG. */
const ultraHdr = ['VipsForeignLoadUhdr'];

/** Enables or blocks the decoder of gain maps, in a process that renders one image at a time. */
export function allowGainMaps(allowed: boolean): void {
  if (allowed) sharp.unblock({ operation: ultraHdr });
  else sharp.block({ operation: ultraHdr });
}

/**
 * Blocks decoders in this process by name, because blocking all of them and unblocking some would
 * disturb other threads. A thread also blocks the decoders that run only in processes.
 */
export function blockDecoders({ onThread }: { readonly onThread: boolean }): void {
  sharp.block({ operation: [...unused, ...ultraHdr, ...(onThread ? isolatedLoaders : [])] });
}
