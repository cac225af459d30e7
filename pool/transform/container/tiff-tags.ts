/** How the pixels of a page of a TIFF are stored (TIFF 6.0, sections 3 to 6 and 15). */
export interface TiffTags {
  readonly compression: number;
  /** Of a sample. */
  readonly bits: number;
  /** Of a pixel. */
  readonly samples: number;
  /** PhotometricInterpretation; null where the file does not say. */
  readonly colours: number | null;
  /** True for a plane of its own for each sample. */
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
} as const;

const followed: ReadonlySet<number> = new Set(Object.values(tags));

/** SHORT and LONG, with their bytes. */
const wholeNumbers: ReadonlyMap<number, 2 | 4> = new Map([
  [3, 2],
  [4, 4],
]);

/** Of all pages, which may share theirs: more mean that somebody wants them to be read. */
const mostEntries = 40_000;

/** The tags of all pages; what is malformed ends the list. */
export function tiffTags(source: Uint8Array): TiffTags[] {
  const pages: TiffTags[] = [];
  try {
    read(Buffer.from(source.buffer, source.byteOffset, source.byteLength), pages);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return pages;
}

function read(file: Buffer, pages: TiffTags[]): void {
  const little = file.toString('latin1', 0, 2) === 'II';
  const uint: ReadUint = (at, bytes) => {
    if (bytes === 8) return Number(little ? file.readBigUInt64LE(at) : file.readBigUInt64BE(at));
    return little ? file.readUIntLE(at, bytes) : file.readUIntBE(at, bytes);
  };
  const version = uint(2, 2);
  if (version !== 42 && version !== 43) return;
  const form = version === 43 ? big : classic;
  let entries = 0;
  for (let at = uint(form.first, form.offset); at !== 0; ) {
    const here = uint(at, form.count);
    // An empty directory counts too, so that a circle ends.
    entries += here + 1;
    if (entries > mostEntries) return;
    pages.push(readPage(uint, form, at, here));
    at = uint(at + form.count + form.entry * here, form.offset);
  }
}

type ReadUint = (at: number, bytes: 2 | 4 | 8) => number;

/** Where the first directory is told; bytes of an offset, of a directory's count and of an entry. */
const classic = { first: 4, offset: 4, count: 2, entry: 12 } as const;
const big = { first: 8, offset: 8, count: 8, entry: 20 } as const;

function readPage(
  uint: ReadUint,
  form: typeof classic | typeof big,
  at: number,
  entries: number,
): TiffTags {
  const { offset, count, entry } = form;
  const first = new Map<number, number>();
  for (let index = 0; index < entries; index += 1) {
    const field = at + count + entry * index;
    const tag = uint(field, 2);
    const bytes = wholeNumbers.get(uint(field + 2, 2));
    if (!followed.has(tag) || bytes === undefined) continue;
    const data = field + entry - offset;
    const inside = bytes * uint(field + 4, offset) <= offset;
    first.set(tag, uint(inside ? data : uint(data, offset), bytes));
  }
  return {
    compression: first.get(tags.compression) ?? 1,
    bits: first.get(tags.bits) ?? 1,
    samples: first.get(tags.samples) ?? 1,
    colours: first.get(tags.colours) ?? null,
    separate: first.get(tags.planes) === 2,
    tiled: first.has(tags.tileWidth),
  };
}
