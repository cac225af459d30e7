import sharp from 'sharp';

/**
 * libvips' classes of the decoders that the service never uses. sharp's own binaries have only some
 * of them, but sharp may be built against a libvips that has all.
 */
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

/** Those of the sources that are only decoded in processes. */
const isolated = ['VipsForeignLoadSvg', 'VipsForeignLoadJxl'];

/** Without it an Ultra HDR image is decoded as the JPEG that it also is. */
const ultraHdr = ['VipsForeignLoadUhdr'];

/** Makes the decoder of gain maps usable, or not, in a process that renders one image at a time. */
export function allowGainMaps(allowed: boolean): void {
  if (allowed) sharp.unblock({ operation: ultraHdr });
  else sharp.block({ operation: ultraHdr });
}

/**
 * Makes decoders unusable in this process, whatever the bytes of a source say. Each is blocked by
 * its name, because to block all and then unblock some would disturb other threads.
 *
 * @param onThread whether those are blocked too that only run in processes
 */
export function blockDecoders({ onThread }: { readonly onThread: boolean }): void {
  sharp.block({ operation: [...unused, ...ultraHdr, ...(onThread ? isolated : [])] });
}
