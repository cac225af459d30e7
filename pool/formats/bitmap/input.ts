import type { SourceKind } from '../kinds.ts';
import { decodeBmp } from './bmp.ts';
import { decodeIcon, readIcon } from './ico.ts';
import type { RawPixels } from './pixels.ts';

/** Input of sharp. `raw` is the form of raw pixels; null for a file. */
interface DecoderInput {
  readonly bytes: Uint8Array;
  readonly raw: Omit<RawPixels, 'data'> | null;
}

/**
 * A source as sharp reads it. BMP and ICO are decoded here, after their size was checked.
 *
 * @throws ServiceError source_unsupported, source_corrupt
 */
export function decoderInput(source: Uint8Array, kind: SourceKind): DecoderInput {
  if (kind === 'bmp') return rawInput(decodeBmp(source));
  if (kind !== 'ico') return { bytes: source, raw: null };
  const icon = readIcon(source);
  return icon.png === null ? rawInput(decodeIcon(icon)) : { bytes: icon.png, raw: null };
}

function rawInput({ data, ...raw }: RawPixels): DecoderInput {
  return { bytes: data, raw };
}
