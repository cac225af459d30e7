import { firstIndex } from '../../first-index.ts';
import { parseOrDefault } from '../../formats/bytes.ts';

/** Returns whether a font contains a glyph for a code point. */
export type CharacterMap = (codePoint: number) => boolean;

/** Subtable formats, each with a function that returns a code point's glyph (0 if missing). */
const readers: Readonly<Record<number, (table: Buffer, code: number) => number>> = {
  4: glyphOfSegments,
  12: glyphOfGroups,
};

/**
 * Reads a font's characters from its `cmap` table (OpenType 1.9). A font with other subtable
 * formats counts as containing every character.
 *
 * @throws RangeError for a truncated table
 */
export function characterMap(cmap: Buffer): CharacterMap {
  const subtables: Buffer[] = [];
  for (let index = 0; index < cmap.readUInt16BE(2); index += 1) {
    const record = 4 + 8 * index;
    const [platform, encoding] = [cmap.readUInt16BE(record), cmap.readUInt16BE(record + 2)];
    const isUnicode = platform === 0 || (platform === 3 && (encoding === 1 || encoding === 10));
    const table = cmap.subarray(cmap.readUInt32BE(record + 4));
    if (isUnicode && readers[table.readUInt16BE(0)] !== undefined) subtables.push(table);
  }
  // Subtables for all planes contain the most characters. Copies, to release the rest of the file.
  const [best] = subtables.sort((a, b) => b.readUInt16BE(0) - a.readUInt16BE(0));
  if (best === undefined) return () => true;
  const format = best.readUInt16BE(0);
  const table = Buffer.from(
    best.subarray(0, format === 12 ? best.readUInt32BE(4) : best.readUInt16BE(2)),
  );
  const readGlyph = readers[format] ?? (() => 1);
  return (codePoint) => parseOrDefault(0, () => readGlyph(table, codePoint)) !== 0;
}

/*
 * Formats 4 and 12 have ascending ranges: reading all ranges in a hostile font would take
 * milliseconds per character.
 */

/** Reads format 4: segments of the basic plane, by their last characters. */
function glyphOfSegments(table: Buffer, code: number): number {
  const bytes = table.readUInt16BE(6);
  const [ends, starts] = [14, 16 + bytes];
  const at = 2 * firstIndex(bytes / 2, (index) => table.readUInt16BE(ends + 2 * index) >= code);
  if (at >= bytes) return 0;
  const start = table.readUInt16BE(starts + at);
  if (start > code) return 0;
  const delta = table.readUInt16BE(starts + bytes + at);
  const offsetAt = starts + 2 * bytes + at;
  const offset = table.readUInt16BE(offsetAt);
  // An offset counts from its own position.
  const glyph = offset === 0 ? code : table.readUInt16BE(offsetAt + offset + 2 * (code - start));
  return offset !== 0 && glyph === 0 ? 0 : (glyph + delta) & 0xffff;
}

/** Reads format 12: groups of characters in all planes. */
function glyphOfGroups(table: Buffer, code: number): number {
  const groups = table.readUInt32BE(12);
  const group = firstIndex(groups, (index) => table.readUInt32BE(20 + 12 * index) >= code);
  if (group >= groups) return 0;
  const at = 16 + 12 * group;
  const start = table.readUInt32BE(at);
  return start <= code ? table.readUInt32BE(at + 8) + code - start : 0;
}
