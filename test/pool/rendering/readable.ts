import { openContainer } from '../../../pool/formats/source-formats.ts';
import { plainVariant } from '../../../pool/variant.ts';

const limits = { sourceMaxPixels: 100_000_000, processMemoryBytes: 2 ** 31 };
const options = { ...plainVariant, stripMetadata: false };

/**
 * Returns an encoded image in a form that sharp reads: the first frame of a JPEG XL as a PNG, other
 * formats unchanged.
 */
export async function readable(encoded: Uint8Array): Promise<Uint8Array> {
  const container = openContainer(encoded);
  const { file } = await container.format.examine(container, limits, options);
  return file.bytes;
}
