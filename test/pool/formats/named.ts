import type { SourceFormat } from '../../../pool/formats/source-format.ts';
import { recognise, sourceFormats } from '../../../pool/formats/source-formats.ts';

/** Returns the source format with a name, such as `jpeg`. */
export function formatNamed(name: string): SourceFormat {
  const found = sourceFormats.find((format) => format.name === name);
  if (found === undefined) throw new Error(`no source format ${name}`);
  return found;
}

/** Returns the name of the recognised format, or null. */
export const recognised = (bytes: Uint8Array): string | null => recognise(bytes)?.name ?? null;
