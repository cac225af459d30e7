import sharp from 'sharp';

/**
 * libvips' classes of the decoders that the service never uses. sharp's own binaries have only some
 * of them, but sharp may be built against a libvips that has all. Without the decoder of Ultra HDR
 * such an image is decoded as the JPEG that it also is.
 */
const unused = [
  ...['Analyze', 'Csv', 'DcRaw', 'Fits', 'Jp2k', 'Jxl', 'Magick', 'Magick7', 'Mat', 'Matrix'],
  ...['Nifti', 'OpenExr', 'Openslide', 'Pdf', 'Ppm', 'Rad', 'Raw', 'Uhdr', 'Vips'],
].map((name) => `VipsForeignLoad${name}`);

/**
 * Makes decoders unusable in this process, whatever the bytes of a source say. Each is blocked by
 * its name, because to block all and then unblock some would disturb other threads.
 *
 * @param svg whether SVG is blocked too
 */
export function blockDecoders({ svg }: { readonly svg: boolean }): void {
  sharp.block({ operation: svg ? [...unused, 'VipsForeignLoadSvg'] : unused });
}
