import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { asBuffer, parseBytes } from '../../formats/bytes.ts';
import { type CharacterMap, characterMap } from './character-map.ts';

/** Facts that a font file states about itself. */
export interface FontFacts {
  readonly family: string;
  /** Multiples of 100, ascending; a single value for a static font. */
  readonly weights: readonly number[];
  /** True for WOFF2, which FreeType of sharp's binaries does not read. */
  readonly compressed: boolean;
  readonly hasCharacter: CharacterMap;
}

/** The file is not a usable font; the message explains why. */
export class FontError extends Error {
  override readonly name = 'FontError';
}

/** A CJK font with a single weight has 5 to 16 MB. */
export const maxFontBytes = 20 * 2 ** 20;

/** The limit of Google's decoder of WOFF2, for all tables together. */
export const maxUnpackedBytes = 30 * 2 ** 20;

/** Fonts have 10 to 30 tables. */
const maxTables = 64;

/** Pango separates families by commas. */
const familyPattern = /^[^\p{C},]{1,100}$/u;

const unpack = promisify(brotliDecompress);

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
  const file = asBuffer(bytes);
  const signature = file.toString('latin1', 0, 4);
  const compressed = signature === 'wOF2';
  if (!compressed && !['\0\x01\0\0', 'OTTO', 'true'].includes(signature)) {
    throw new FontError('it is not a TTF, OTF or WOFF2 file');
  }
  const tables = compressed
    ? await tablesOfWoff2(file)
    : parseBytes(() => tablesOfSfnt(file), damaged);
  return parseBytes(() => ({ ...readFacts(tables), compressed }), damaged);
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

function requireCount(count: number): void {
  if (count === 0 || count > maxTables) throw new FontError(`it has ${count} tables`);
}

/** Returns the tables by tag, without the tags' trailing spaces. */
function tablesOfSfnt(file: Buffer): Tables {
  const count = file.readUInt16BE(4);
  requireCount(count);
  const directory = slice(file, 12, 16 * count);
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const entry = directory.subarray(16 * index);
      const tag = entry.toString('latin1', 0, 4).trimEnd();
      return [tag, slice(file, entry.readUInt32BE(8), entry.readUInt32BE(12))] as const;
    }),
  );
}

/** The tags that WOFF2 abbreviates (5.1), without trailing spaces. */
const woff2Tags =
  'cmap head hhea hmtx maxp name OS/2 post cvt fpgm glyf loca prep CFF VORG EBDT EBLC gasp hdmx kern LTSH PCLT VDMX vhea vmtx BASE GDEF GPOS GSUB EBSC JSTF MATH CBDT CBLC COLR CPAL SVG sbix acnt avar bdat bloc bsln cvar fdsc feat fmtx fvar gvar hsty just lcar mort morx opbd prop trak Zapf Silf Glat Gloc Feat Sill'.split(
    ' ',
  );

interface Woff2Table {
  readonly tag: string;
  /** In the unpacked data. */
  readonly length: number;
}

async function tablesOfWoff2(file: Buffer): Promise<Tables> {
  const { entries, data } = parseBytes(() => directoryOfWoff2(file), damaged);
  const length = entries.reduce((sum, entry) => sum + entry.length, 0);
  const tooLarge = `its tables have ${length} bytes; at most ${maxUnpackedBytes} are allowed`;
  if (length > maxUnpackedBytes) throw new FontError(tooLarge);
  const unpacked = await unpack(data, { maxOutputLength: length }).catch(() => {
    throw damaged();
  });
  const tables = new Map<string, Buffer>();
  let offset = 0;
  for (const entry of entries) {
    tables.set(
      entry.tag,
      parseBytes(() => slice(unpacked, offset, entry.length), damaged),
    );
    offset += entry.length;
  }
  return tables;
}

function directoryOfWoff2(file: Buffer): { entries: readonly Woff2Table[]; data: Buffer } {
  const count = file.readUInt16BE(12);
  requireCount(count);
  const unpackedLength = file.readUInt32BE(16);
  if (unpackedLength > maxUnpackedBytes) {
    throw new FontError(
      `it unpacks to ${unpackedLength} bytes; at most ${maxUnpackedBytes} are allowed`,
    );
  }
  let offset = 48;
  const base128 = (): number => {
    let value = 0;
    for (let bytes = 0; bytes < 5; bytes += 1) {
      const byte = file.readUInt8(offset);
      offset += 1;
      value = value * 128 + (byte & 0x7f);
      if (byte < 128) return value;
    }
    throw new RangeError('a number with more than five bytes');
  };
  const entries = Array.from({ length: count }, () => {
    const flags = file.readUInt8(offset);
    offset += 1;
    let tag = woff2Tags[flags & 63];
    if (tag === undefined) {
      tag = slice(file, offset, 4).toString('latin1').trimEnd();
      offset += 4;
    }
    const plain = base128();
    const version = flags >> 6;
    const isTransformed = tag === 'glyf' || tag === 'loca' ? version !== 3 : version !== 0;
    return { tag, length: isTransformed ? base128() : plain };
  });
  return { entries, data: slice(file, offset, file.readUInt32BE(20)) };
}

function readFacts(tables: Tables): Omit<FontFacts, 'compressed'> {
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
