import type { SourceKind } from '../kinds.ts';
import { decodeBmp } from './bmp.ts';
import { decodeIcon, readIcon } from './ico.ts';
import type { RawPixels } from './pixels.ts';

/** What sharp opens. */
export interface DecoderInput {
  readonly bytes: Uint8Array;
  /** The form of the bytes when they are pixels, and no file. */
  readonly raw: Omit<RawPixels, 'data'> | null;
}

/**
 * A source as sharp reads it: BMP and ICO are decoded here, after their size was checked.
 *
 * @throws ServiceError source_unsupported, source_corrupt
 */
export function decoderInput(source: Uint8Array, kind: SourceKind): DecoderInput {
  if (kind === 'bmp') return pixelInput(decodeBmp(source));
  if (kind !== 'ico') return { bytes: source, raw: null };
  const icon = readIcon(source);
  return icon.png === null ? pixelInput(decodeIcon(icon)) : { bytes: icon.png, raw: null };
}

function pixelInput({ data, width, height, channels }: RawPixels): DecoderInput {
  return { bytes: data, raw: { width, height, channels } };
}
