import readExif, { type Exif } from 'exif-reader';
import { checkedHeader } from '../../formats/file.ts';
import { decoded } from '../../formats/metadata/copyright.ts';
import { boundedExif } from '../../formats/metadata/exif.ts';
import { openContainer } from '../../formats/source-formats.ts';

const maxTextLength = 500;

interface Row {
  readonly schema: { readonly type: 'string' | 'number' } & Readonly<Record<string, unknown>>;
  /** @returns undefined if the EXIF does not have it */
  read(exif: Exif): string | number | undefined;
}

const text = (
  description: string,
  value: (exif: Exif) => unknown,
  rules: object = { maxLength: maxTextLength },
): Row => ({
  schema: { type: 'string', ...rules, description },
  read: (exif) => toText(value(exif)),
});

const number = (description: string, value: (exif: Exif) => unknown, rules: object = {}): Row => ({
  schema: { type: 'number', ...rules, description },
  read: (exif) => toNumber(value(exif)),
});

/** The listed EXIF fields (Exif 3.0, 4.6); a field is omitted if the image lacks it. */
const rows = {
  cameraMake: text('Camera maker.', ({ Image }) => Image?.Make),
  cameraModel: text('Camera model.', ({ Image }) => Image?.Model),
  lens: text('Lens model.', ({ Photo }) => Photo?.LensModel),
  software: text('Program that wrote the image.', ({ Image }) => Image?.Software),
  takenAt: text(
    "Capture time in the camera's local time, with its UTC offset if known.",
    ({ Photo }) => takenAt(Photo),
    { pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d([+-]\\d\\d:\\d\\d)?$' },
  ),
  exposureTime: number('In seconds.', ({ Photo }) => Photo?.ExposureTime, { minimum: 0 }),
  fNumber: number('F-number.', ({ Photo }) => Photo?.FNumber, { minimum: 0 }),
  iso: number('ISO sensitivity.', ({ Photo }) => Photo?.ISOSpeedRatings, { minimum: 0 }),
  focalLength: number('In millimetres.', ({ Photo }) => Photo?.FocalLength, { minimum: 0 }),
  description: text('Title or description.', ({ Image }) => Image?.ImageDescription),
  artist: text('Author.', ({ Image }) => Image?.Artist),
  copyright: text('Copyright notice.', ({ Image }) => Image?.Copyright),
  latitude: number(
    'Degrees; north is positive.',
    ({ GPSInfo }) => degrees(GPSInfo?.GPSLatitude, GPSInfo?.GPSLatitudeRef, 'S'),
    { minimum: -90, maximum: 90 },
  ),
  longitude: number(
    'Degrees; east is positive.',
    ({ GPSInfo }) => degrees(GPSInfo?.GPSLongitude, GPSInfo?.GPSLongitudeRef, 'W'),
    { minimum: -180, maximum: 180 },
  ),
} as const satisfies Readonly<Record<string, Row>>;

const entries = Object.entries<Row>(rows);

export const exifSchema = {
  type: 'object',
  description:
    'EXIF fields of the output. Empty if the project strips metadata; only `artist` and `copyright` with `keep=copyright`.',
  properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
};

/** Returns the listed fields of an image's EXIF; an empty object if it is missing or unreadable. */
export async function exifFields(image: Uint8Array): Promise<Record<string, string | number>> {
  const exif = await findExif(image);
  const parsed = exif === null ? null : parse(exif);
  if (parsed === null) return {};
  const found = entries.flatMap(([name, { read, schema }]) => {
    const value = read(parsed);
    return value !== undefined && isWithin(value, schema) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** @param image one that the service has encoded, or checked as its source */
async function findExif(image: Uint8Array): Promise<Buffer | null> {
  const { format } = openContainer(image);
  if (format.ownExif !== undefined) return format.ownExif(image);
  const { exif } = await checkedHeader(image, format);
  return exif ?? null;
}

function parse(exif: Buffer): Exif | null {
  const bounded = boundedExif(exif);
  try {
    return bounded && readExif(bounded);
  } catch {
    return null;
  }
}

function isWithin(value: string | number, { minimum, maximum }: Row['schema']): boolean {
  if (typeof value === 'string') return true;
  return value >= Number(minimum ?? -Infinity) && value <= Number(maximum ?? Infinity);
}

/** Returns a text. The parser returns bytes for texts that are not ASCII. */
function toText(value: unknown): string | undefined {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  if (!Buffer.isBuffer(bytes)) return undefined;
  return decoded(bytes).slice(0, maxTextLength).toWellFormed() || undefined;
}

/** Returns the first of a tag's values. */
function toNumber(value: unknown): number | undefined {
  const [first] = [value].flat();
  if (typeof first !== 'number' || !Number.isFinite(first)) return undefined;
  return Math.round(first * 1e6) / 1e6;
}

/** Returns the local time, with its zone if known. The parser takes it for UTC. */
function takenAt(photo: Exif['Photo']): string | undefined {
  const { DateTimeOriginal: date, OffsetTimeOriginal: offset } = photo ?? {};
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) return undefined;
  const zone = typeof offset === 'string' && /^[+-]\d\d:\d\d$/.test(offset) ? offset : '';
  return date.toISOString().slice(0, 19) + zone;
}

/** @param value degrees, minutes and seconds @param negative the reference of negative values */
function degrees(value: unknown, reference: unknown, negative: string): number | undefined {
  if (!Array.isArray(value) || typeof reference !== 'string') return undefined;
  const [whole = Number.NaN, minutes = 0, seconds = 0] = value as readonly number[];
  const sum = whole + minutes / 60 + seconds / 3600;
  return reference === negative ? -sum : sum;
}
