import { avif } from './avif/format.ts';
import { bmp } from './bmp/format.ts';
import { matching } from './bytes.ts';
import { gif } from './gif/format.ts';
import { heic } from './heic/format.ts';
import { ico } from './ico/format.ts';
import { jpeg } from './jpeg/format.ts';
import { jxl } from './jxl/format.ts';
import { pdf } from './pdf/format.ts';
import { png } from './png/format.ts';
import type { AllowedFormats, SourceFormat } from './source-format.ts';
import { svg } from './svg/format.ts';
import { tiff } from './tiff/format.ts';
import { webp } from './webp/format.ts';

/** The supported source formats: the first one that recognises the bytes is the format of a source. */
export const sourceFormats: readonly SourceFormat[] = [
  jpeg,
  png,
  webp,
  gif,
  avif,
  heic,
  tiff,
  svg,
  bmp,
  ico,
  pdf,
  jxl,
];

/**
 * The format of a source by its first bytes, whatever its content type; null if unsupported. Only sources of known
 * formats are passed to a decoder, so hostile bytes reach no other decoders than theirs.
 */
export const recognise = (source: Uint8Array): SourceFormat | null =>
  matching(sourceFormats, source);

/** Resolves when it is known which formats libvips decodes, shortly after the start. */
export const formatsProbed: Promise<unknown> = Promise.all(
  sourceFormats.map(({ probed }) => probed),
);

/** Extensions of the names of sources. */
export const sourceExtensions: readonly string[] = sourceFormats.flatMap(
  ({ extensions }) => extensions,
);

/** The loaders of libvips that only processes may use. */
export const isolatedLoaders: readonly string[] = sourceFormats.flatMap(
  ({ isolatedLoader }) => isolatedLoader ?? [],
);

export const allFormats: AllowedFormats = Object.fromEntries(
  sourceFormats.flatMap(({ setting }) => (setting === undefined ? [] : [[setting.name, true]])),
);

export const isAllowed = ({ setting }: SourceFormat, allowed: AllowedFormats): boolean =>
  setting === undefined || allowed[setting.name] === true;

/** Names of the source formats that this service reads. */
export const readableFormats = (allowed: AllowedFormats): string[] =>
  sourceFormats
    .filter((format) => isAllowed(format, allowed))
    .map(({ label, listedAs }) => listedAs ?? label);
