import { openContainer } from '../../../pool/formats/container/container.ts';
import { decodedJxl } from '../../../pool/formats/jxl/decode.ts';

const limits = { sourceMaxPixels: 100_000_000, isolated: true };

/** An encoded image as sharp reads it: the first frame of a JPEG XL as a PNG, other formats as they are. */
export async function readable(encoded: Uint8Array): Promise<Uint8Array> {
  return (await decodedJxl(openContainer(encoded), limits, true)).bytes;
}
