import { scaledSize } from '../geometry.ts';
import { decodeBmp } from './bitmap/bmp.ts';
import { decodeIcon, readIcon } from './bitmap/ico.ts';
import type { RawPixels } from './bitmap/pixels.ts';
import type { SourceFacts } from './facts.ts';
import { heicAsPng } from './heic/decode.ts';
import { drawPdf } from './pdf/decode.ts';

/** Input of sharp. `raw` is the form of raw pixels; null for a file. */
interface DecoderInput {
  readonly bytes: Uint8Array;
  readonly raw: Omit<RawPixels, 'data'> | null;
}

/**
 * A page of a PDF as sharp reads it.
 *
 * @param scale pixels for each CSS pixel
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function pdfInput(
  source: Uint8Array,
  facts: SourceFacts,
  scale: number,
): Promise<DecoderInput> {
  return rawInput(await drawPdf(source, facts.page ?? 0, scaledSize(facts, scale)));
}

/**
 * A source as sharp reads it. BMP, ICO, and a HEIC that libvips cannot decode, are decoded here, after their size
 * was checked.
 *
 * @param keepsMetadata true if EXIF and XMP are needed
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function decoderInput(
  source: Uint8Array,
  facts: SourceFacts,
  keepsMetadata: boolean,
): Promise<DecoderInput> {
  const { kind, byLibheif } = facts;
  if (byLibheif) return { bytes: await heicAsPng(source, facts, keepsMetadata), raw: null };
  if (kind === 'bmp') return rawInput(decodeBmp(source));
  if (kind !== 'ico') return { bytes: source, raw: null };
  const icon = readIcon(source);
  return icon.png === null ? rawInput(decodeIcon(icon)) : { bytes: icon.png, raw: null };
}

function rawInput({ data, ...raw }: RawPixels): DecoderInput {
  return { bytes: data, raw };
}
