import { programUrl } from '../../../contract/own-files.ts';
import { requirePixels } from '../bounds.ts';
import { runDecoder, vipsModule } from '../wasm/run.ts';
import { jxlParts } from './boxes.ts';
import { type JxlHeader, readJxlHeader } from './header.ts';
import type { JxlSource } from './thread.ts';

const entry = programUrl('pool/formats/jxl/thread');

/** @throws ServiceError source_unsupported, source_corrupt, source_too_large */
export function jxlHeader(source: Uint8Array, maxPixels: number): JxlHeader {
  const header = readJxlHeader(jxlParts(source, false).codestream);
  requirePixels(header.width * header.height, maxPixels);
  return header;
}

/**
 * Decodes a JPEG XL with libjxl to an upright, uncompressed PNG with its profile; for an animation,
 * decodes the first frame.
 *
 * @param premultiplied true if colours are stored multiplied by alpha
 * @param needsMetadata true to include EXIF and XMP
 * @param maxCpuMs CPU time that the process can use meanwhile
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, transform_timeout
 */
export function decodeJxl(
  source: Uint8Array,
  premultiplied: boolean,
  needsMetadata: boolean,
  maxCpuMs: number,
): Promise<Uint8Array> {
  const task = { ...jxlParts(source, needsMetadata), premultiplied };
  return runDecoder<JxlSource>(entry, vipsModule(), task, maxCpuMs);
}
