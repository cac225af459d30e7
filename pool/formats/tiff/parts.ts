import { asBuffer, parseOrDefault, type ReadUint, uintReader } from '../bytes.ts';
import type { PartRole, Parts } from '../container/examination.ts';
import { plainCmykProfile } from '../metadata/cmyk.ts';

/** The two forms of TIFF: bytes of a directory's count, entries and offsets (TIFF 6.0, BigTIFF). */
const forms = {
  42: { first: 4, count: 2, entry: 12, offset: 4 },
  43: { first: 8, count: 8, entry: 20, offset: 8 },
} as const;

/** Header of BigTIFF; no image fits in fewer bytes. */
const headBytes = 16;

/** Bytes per value type (TIFF 6.0, section 2; BigTIFF), by number. */
const typeBytes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];
const ascii = 2;

interface Entry {
  readonly tag: number;
  readonly type: number;
  /** Offset and total size of its values. */
  readonly at: number;
  readonly bytes: number;
}

interface Directory {
  readonly from: number;
  readonly to: number;
  readonly entries: Iterable<Entry>;
  readonly read: ReadUint;
}

/** Yields the linked list of page directories, up to the first malformed directory. */
function* tiffDirectories(file: Buffer): Generator<Directory, void, void> {
  if (file.length < headBytes) return;
  const read = uintReader(file);
  if (read === null) return;
  const version = read(2, 2);
  if (version !== 42 && version !== 43) return;
  const form = forms[version];
  const seen = new Set<number>();
  for (let from = read(form.first, form.offset); from !== 0 && !seen.has(from); ) {
    if (from + form.count > file.length) return;
    seen.add(from);
    const next = from + form.count + form.entry * read(from, form.count);
    const to = Math.min(next, file.length);
    yield { from, to, entries: readEntries(read, form, from + form.count, to), read };
    if (next + form.offset > file.length) return;
    from = read(next, form.offset);
  }
}

function* readEntries(
  read: ReadUint,
  { entry, offset }: (typeof forms)[42 | 43],
  from: number,
  to: number,
): Generator<Entry, void, void> {
  for (let at = from; at + entry <= to; at += entry) {
    const type = read(at + 2, 2);
    const bytes = (typeBytes[type] ?? 0) * read(at + 4, offset);
    const value = at + entry - offset;
    yield { tag: read(at, 2), type, at: bytes <= offset ? value : read(value, offset), bytes };
  }
}

const profileTag = 34675;

/** Roles of tags; other texts are `text`, and all others `pixels`. */
const roles: ReadonlyMap<number, PartRole> = new Map([
  [700, 'xmp'],
  [33723, 'iptc'],
  [34377, 'iptc'],
  [profileTag, 'profile'],
]);

/** Yields a `page` part per directory, followed by its entries' values. */
export function* tiffParts(file: Buffer): Parts {
  for (const { from, to, entries } of tiffDirectories(file)) {
    yield { role: 'page', from, to };
    for (const { tag, type, at, bytes } of entries) {
      const role = roles.get(tag) ?? (type === ascii ? 'text' : 'pixels');
      const end = Math.max(at, Math.min(at + bytes, file.length));
      yield { role, from: at, to: end, content: [at, end] };
    }
  }
}

/** Encoding of a page's pixels (TIFF 6.0, sections 3 to 6 and 15). */
export interface TiffPixels {
  readonly compression: number;
  /** Bits per sample. */
  readonly bits: number;
  /** Samples per pixel. */
  readonly samples: number;
  /** PhotometricInterpretation; null if absent. */
  readonly colours: number | null;
  /** SampleFormat: 1 for unsigned integers, 2 for signed ones, 3 for floating point. */
  readonly sampleFormat: number;
  readonly hasProfile: boolean;
  /** Whether each sample has a separate plane. */
  readonly separate: boolean;
  readonly tiled: boolean;
}

const tags = {
  bits: 258,
  compression: 259,
  colours: 262,
  samples: 277,
  planes: 284,
  tileWidth: 322,
  sampleFormat: 339,
} as const;
const pixelTags: ReadonlySet<number> = new Set(Object.values(tags));

/** Bytes of the types SHORT and LONG. */
const integerBytes: Readonly<Record<number, 2 | 4>> = { 3: 2, 4: 4 };

/** @param file accepted by `openContainer` */
export function* tiffPixels(file: Buffer): Generator<TiffPixels, void, void> {
  for (const { entries, read } of tiffDirectories(file)) {
    const first = new Map<number, number>();
    let hasProfile = false;
    for (const { tag, type, at } of entries) {
      const bytes = integerBytes[type];
      hasProfile ||= tag === profileTag;
      if (!pixelTags.has(tag) || bytes === undefined) continue;
      if (at + bytes > file.length) return;
      first.set(tag, read(at, bytes));
    }
    yield {
      compression: first.get(tags.compression) ?? 1,
      bits: first.get(tags.bits) ?? 1,
      samples: first.get(tags.samples) ?? 1,
      colours: first.get(tags.colours) ?? null,
      sampleFormat: first.get(tags.sampleFormat) ?? 1,
      hasProfile,
      separate: first.get(tags.planes) === 2,
      tiled: first.has(tags.tileWidth),
    };
  }
}

const separated = 5;
/** Bytes per entry, and the type for opaque bytes (TIFF 6.0, section 2). */
const [entryBytes, undefinedType] = [12, 7];

/**
 * Adds browsers' CMYK profile to a TIFF, in a copy, if its first page is unprofiled CMYK. Writes
 * the page's directory, with an additional entry, at the file's end. Leaves a BigTIFF unchanged.
 */
export const withTiffCmykProfile = (source: Uint8Array): Uint8Array =>
  parseOrDefault(source, () => {
    const file = asBuffer(source);
    const read = uintReader(file);
    const [page] = tiffPixels(file);
    if (page?.colours !== separated || page.hasProfile || page.samples < 4) return source;
    if (read === null || read(2, 2) !== 42) return source;
    const from = read(4, 4);
    const count = read(from, 2);
    const end = from + 2 + entryBytes * count;
    if (end + 4 > file.length) return source;
    const little = file.toString('latin1', 0, 2) === 'II';
    const number = (value: number, bytes: 2 | 4): Buffer => {
      const written = Buffer.alloc(bytes);
      if (little) written.writeUIntLE(value, 0, bytes);
      else written.writeUIntBE(value, 0, bytes);
      return written;
    };
    const profile = plainCmykProfile();
    const padding = Buffer.alloc(file.length & 1);
    const profileAt = file.length + padding.length;
    // Entries are in ascending order of their tags.
    let place = from + 2;
    while (place < end && read(place, 2) < profileTag) place += entryBytes;
    const entry = [
      number(profileTag, 2),
      number(undefinedType, 2),
      number(profile.length, 4),
      number(profileAt, 4),
    ];
    return Buffer.concat([
      file.subarray(0, 4),
      number(profileAt + profile.length, 4),
      file.subarray(8),
      padding,
      profile,
      number(count + 1, 2),
      file.subarray(from + 2, place),
      ...entry,
      file.subarray(place, end + 4),
    ]);
  });
