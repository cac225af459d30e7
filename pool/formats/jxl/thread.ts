import { corrupt } from '../errors.ts';
import { runTask } from '../wasm/thread.ts';
import { keepFlags, openVips } from '../wasm/vips.ts';
import type { JxlParts } from './header.ts';

/** The entry point of the thread that decodes one JPEG XL. */

export interface JxlSource extends JxlParts {
  /** Whether colours are stored multiplied by alpha; libvips does not undo it. */
  readonly premultiplied: boolean;
}

/** Floating-point samples of 1, in 16 bits. */
const white = 65_535;

async function decode({
  codestream,
  exif,
  xmp,
  premultiplied,
}: JxlSource): Promise<Buffer<ArrayBuffer>> {
  const vips = await openVips();
  try {
    // Sequential access, because libvips would otherwise copy the pixels to memory, or from 100 MB
    // on to a file, which is denied.
    const opening = { fail_on: 'error', access: 'sequential' } as const;
    const image = vips.Image.jxlloadBuffer(codestream, opening);
    const samples = image.format === 'float' ? inWholeNumbers(image) : image;
    const upright = premultiplied ? divided(samples) : samples.copy();
    if (exif !== null) upright.setBlob('exif-data', exif);
    if (xmp !== null) upright.setBlob('xmp-data', xmp);
    const keep =
      keepFlags.icc + (exif === null ? 0 : keepFlags.exif) + (xmp === null ? 0 : keepFlags.xmp);
    const png = upright.pngsaveBuffer({ compression: 0, keep });
    const own = new Uint8Array(png);
    return Buffer.from(own.buffer);
  } catch (error) {
    throw corrupt('The source has a valid JPEG XL header but cannot be decoded completely.', error);
  }

  function divided(image: InstanceType<typeof vips.Image>) {
    return image.unpremultiply().cast(image.format).copy({ interpretation: image.interpretation });
  }

  function inWholeNumbers(image: InstanceType<typeof vips.Image>) {
    const { rgb16, grey16 } = vips.Interpretation;
    const interpretation = image.bands < 3 ? grey16 : rgb16;
    return image.linear(white, 0).cast(vips.BandFormat.ushort).copy({ interpretation });
  }
}

void runTask(decode);
