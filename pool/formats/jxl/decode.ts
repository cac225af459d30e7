import { extname } from 'node:path';
import type { Container } from '../container/container.ts';
import { openContainer } from '../container/container.ts';
import { IsolationRequired } from '../isolation.ts';
import { optionalFormats } from '../optional-formats.ts';
import { requirePixels } from '../pixel-limit.ts';
import { runDecoder, vipsModule } from '../wasm/run.ts';
import { jxlParts } from './boxes.ts';
import { type JxlHeader, readJxlHeader } from './header.ts';
import type { JxlSource } from './thread.ts';

const entry = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/** True for a JPEG XL that the installed libvips does not decode. */
export const needsJxlDecoder = ({ kind }: Pick<Container, 'kind'>): boolean =>
  kind === 'jxl' && !optionalFormats().jxl;

/** @throws ServiceError source_unsupported, source_corrupt, source_too_large */
export function jxlHeader(source: Uint8Array, maxPixels: number): JxlHeader {
  const header = readJxlHeader(jxlParts(source, false).codestream);
  requirePixels(header.width * header.height, maxPixels);
  return header;
}

/**
 * A source as sharp opens it: any other one than a JPEG XL that libvips cannot decode as it is. libjxl decodes that one
 * to an upright, uncompressed PNG with its profile; of an animation, its first frame.
 *
 * @param needsMetadata true if EXIF and XMP are needed
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 * @throws IsolationRequired on a thread
 */
export async function decodedJxl(
  container: Container,
  { sourceMaxPixels, isolated }: { readonly sourceMaxPixels: number; readonly isolated: boolean },
  needsMetadata: boolean,
): Promise<Container> {
  if (!needsJxlDecoder(container)) return container;
  const { bytes, deliverable } = container;
  const { premultiplied } = jxlHeader(bytes, sourceMaxPixels);
  if (!isolated) throw new IsolationRequired();
  const parts = jxlParts(bytes, needsMetadata);
  const png = await runDecoder<JxlSource>(entry, vipsModule(), { ...parts, premultiplied });
  return { ...openContainer(png), kind: 'jxl', deliverable };
}
