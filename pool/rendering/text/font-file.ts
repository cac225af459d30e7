import { asBuffer, parseBytes } from '../../formats/bytes.ts';
import { type CharacterMap, characterMap } from './character-map.ts';

/** Facts that a font file states about itself. */
export interface FontFacts {
  readonly family: string;
  /** Multiples of 100, ascending; a single value for a static font. */
  readonly weights: readonly number[];
  /** The TTF or OTF, unpacked from WOFF2, which FreeType of sharp's binaries does not read. */
  readonly file: Uint8Array;
  readonly hasCharacter: CharacterMap;
}

/** The file is not a usable font; the message explains why. */
export class FontError extends Error {
  override readonly name = 'FontError';
}

/** A CJK font with a single weight has 5 to 16 MB. */
export const maxFontBytes = 20 * 2 ** 20;

/** The limit of Google's decoder of WOFF2, which also enforces it while it unpacks. */
export const maxUnpackedBytes = 30 * 2 ** 20;

/** Fonts have 10 to 30 tables. */
const maxTables = 64;

/** Pango separates families by commas. */
const familyPattern = /^[^\p{C},]{1,100}$/u;

/**
 * Reads the tables that name a TrueType, OpenType or WOFF2 font, without its glyphs. Sources: the
 * OpenType specification 1.9 (`name`, `OS/2`, `fvar`, `maxp`) and https://www.w3.org/TR/WOFF2/.
 *
 * @throws FontError
 */
export async function readFont(bytes: Uint8Array): Promise<FontFacts> {
  if (bytes.byteLength > maxFontBytes) {
    throw new FontError(`it has ${bytes.byteLength} bytes; at most ${maxFontBytes} are allowed`);
  }
  const font = asBuffer(bytes);
  const signature = font.toString('latin1', 0, 4);
  if (!['\0\x01\0\0', 'OTTO', 'true', 'wOF2'].includes(signature)) {
    throw new FontError('it is not a TTF, OTF or WOFF2 file');
  }
  const file = signature === 'wOF2' ? await unpack(font) : bytes;
  return parseBytes(() => ({ ...readFacts(tablesOfSfnt(asBuffer(file))), file }), damaged);
}

async function unpack(woff2: Buffer): Promise<Uint8Array> {
  const length = parseBytes(() => woff2.readUInt32BE(16), damaged);
  if (length > maxUnpackedBytes) {
    throw new FontError(`it unpacks to ${length} bytes; at most ${maxUnpackedBytes} are allowed`);
  }
  const { default: decompress } = await import('wawoff2/decompress.js');
  return decompress(woff2).catch(() => {
    throw damaged();
  });
}

const damaged = () => new FontError('it is damaged');

type Tables = ReadonlyMap<string, Buffer>;

/**
 * Returns a part of a buffer.
 *
 * @throws RangeError if the part is not within the buffer
 */
function slice(buffer: Buffer, offset: number, length: number): Buffer {
  if (offset + length > buffer.length) throw new RangeError('outside of the buffer');
  return buffer.subarray(offset, offset + length);
}

/** Returns the tables by tag, without the tags' trailing spaces. */
function tablesOfSfnt(file: Buffer): Tables {
  const count = file.readUInt16BE(4);
  if (count === 0 || count > maxTables) throw new FontError(`it has ${count} tables`);
  const directory = slice(file, 12, 16 * count);
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const entry = directory.subarray(16 * index);
      const tag = entry.toString('latin1', 0, 4).trimEnd();
      return [tag, slice(file, entry.readUInt32BE(8), entry.readUInt32BE(12))] as const;
    }),
  );
}

function readFacts(tables: Tables): Omit<FontFacts, 'file'> {
  const required = (tag: string): Buffer => {
    const table = tables.get(tag);
    if (table === undefined) throw new FontError(`it has no table ${tag}`);
    return table;
  };
  for (const tag of ['head', 'hhea', 'hmtx']) required(tag);
  const hasCharacter = characterMap(required('cmap'));
  if (required('maxp').readUInt16BE(4) === 0) throw new FontError('it has no glyphs');
  const family = readFamily(required('name'));
  if (!familyPattern.test(family)) throw new FontError('its family has no usable name');
  const weights = readWeights(tables.get('fvar'), tables.get('OS/2'));
  return { family, weights, hasCharacter };
}

/**
 * Returns the typographic family, or else the family, as Windows reads it; '' if both are missing.
 */
function readFamily(table: Buffer): string {
  const storage = table.readUInt16BE(4);
  const families = new Map<number, string>();
  // A table contains at most 65,535 12-byte records, so the table's length bounds this loop.
  for (let index = 0; index < table.readUInt16BE(2); index += 1) {
    const record = slice(table, 6 + 12 * index, 12);
    const [platform, id] = [record.readUInt16BE(0), record.readUInt16BE(6)];
    // Mac platforms use other encodings.
    if (platform === 1 || (id !== 1 && id !== 16) || families.has(id)) continue;
    const text = slice(table, storage + record.readUInt16BE(10), record.readUInt16BE(8));
    families.set(id, new TextDecoder('utf-16be').decode(text).trim());
  }
  return families.get(16) ?? families.get(1) ?? '';
}

/**
 * Returns the multiples of 100 on a variable font's `wght` axis, or else the nearest multiple to a
 * static font's weight.
 */
function readWeights(
  variations: Buffer | undefined,
  metrics: Buffer | undefined,
): readonly number[] {
  const all = [100, 200, 300, 400, 500, 600, 700, 800, 900];
  const [first, count, size] = [4, 8, 10].map((offset) => variations?.readUInt16BE(offset) ?? 0);
  for (let index = 0; index < (count ?? 0); index += 1) {
    const axis = slice(variations ?? Buffer.of(), (first ?? 0) + index * (size ?? 0), 20);
    if (axis.toString('latin1', 0, 4) !== 'wght') continue;
    const [lowest, highest] = [axis.readInt32BE(4) / 65_536, axis.readInt32BE(12) / 65_536];
    return all.filter((weight) => weight >= lowest && weight <= highest);
  }
  const weight = Math.round((metrics?.readUInt16BE(4) ?? 400) / 100) * 100;
  return [Math.min(900, Math.max(100, weight))];
}
