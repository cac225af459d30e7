import { createPng, pngChunks } from '../../hostile/inputs/chunks.ts';

/** Returns a PNG, AVIF or HEIC with colour codes (ITU-T H.273) in place of its profile. */
export function withCodes(file: Buffer, primaries: number, transfer: number): Buffer {
  return file[0] === 0x89
    ? pngWith(file, primaries, transfer)
    : heifWith(file, primaries, transfer);
}

function pngWith(png: Buffer, primaries: number, transfer: number): Buffer {
  const [header, ...rest] = pngChunks(png).filter(({ type }) => type !== 'iCCP');
  if (header === undefined) throw new Error('no PNG');
  return createPng([
    header,
    { type: 'cICP', data: Buffer.from([primaries, transfer, 0, 1]) },
    ...rest,
  ]);
}

/** The rest of the profile stays behind the codes. */
function heifWith(heif: Buffer, primaries: number, transfer: number): Buffer {
  const file = Buffer.from(heif);
  const at = file.indexOf('colr') + 4;
  file.write('nclx', at, 'latin1');
  // Use the matrix of sRGB's YCC (BT.601), and the full range.
  for (const [index, code] of [primaries, transfer, 6].entries()) {
    file.writeUInt16BE(code, at + 4 + 2 * index);
  }
  file[at + 10] = 0x80;
  return file;
}
