import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import decompress from 'wawoff2/decompress.js';
import {
  FontError,
  maxFontBytes,
  maxUnpackedBytes,
  readFont,
} from '../../../../pool/rendering/text/font-file.ts';
import {
  maxAddedFonts,
  packagedFamily,
  readInstalledFonts,
} from '../../../../pool/rendering/text/fonts.ts';
import { usedCpuMs } from '../../../clock.ts';
import { temporaryFolder } from '../../../temporary-root.ts';
import { arabic, openSans, woff2 } from './font-files.ts';

const latin = await openSans('latin');
const plain = Buffer.from(await decompress(latin));

/** Replaces bytes at an offset in a copy. */
function changed(bytes: Buffer, offset: number, value: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  value.copy(copy, offset);
  return copy;
}

const integer = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const findRefusal = async (bytes: Buffer): Promise<string> => {
  const error = await readFont(bytes).then(
    () => null,
    (thrown) => thrown,
  );
  if (!(error instanceof FontError)) throw new Error(`not refused: ${error}`);
  return error.message;
};

t.test('names the packaged family correctly', async (t) => {
  t.same((await readInstalledFonts(null)).families, [packagedFamily]);
});

t.test("adds families and weights from the operator's files", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'arabic.woff2'), arabic);
  await writeFile(join(folder, 'latin.TTF'), plain);
  await writeFile(join(folder, 'OFL.txt'), 'The licence');
  await writeFile(join(folder, '.hidden.ttf'), 'Not a font');
  t.same((await readInstalledFonts(folder)).families, [
    packagedFamily,
    { name: 'Noto Sans Arabic', weights: [400] },
  ]);
});

t.test('reads the same facts from TTF and WOFF2', async (t) => {
  const { file, ...facts } = await readFont(latin);
  t.ok(plain.equals(file));
  t.same(await readFont(plain), { ...facts, file: plain });
});

t.test('rejects a font bomb before it unpacks it', async (t) => {
  const tooMuch = maxUnpackedBytes + 1;
  t.match(await findRefusal(changed(latin, 16, integer(tooMuch))), /unpacks to 31457281 bytes/);
  t.match(await findRefusal(woff2({ declared: tooMuch, actual: 9 })), /damaged/);
  t.match(await findRefusal(woff2({ declared: 1_000, actual: 10_000_000 })), /damaged/);
  t.match(await findRefusal(Buffer.alloc(maxFontBytes + 1)), /has 20971521 bytes/);
});

t.test('rejects a damaged font and gives the reason', async (t) => {
  t.match(await findRefusal(Buffer.from('<svg/>')), /not a TTF, OTF or WOFF2/);
  t.match(await findRefusal(Buffer.alloc(0)), /not a TTF, OTF or WOFF2/);
  t.match(await findRefusal(changed(plain, 4, Buffer.of(0xff, 0xff))), /65535 tables/);
  t.match(await findRefusal(changed(plain, 4, Buffer.of(0, 0))), /0 tables/);
  t.match(await findRefusal(changed(latin, 12, Buffer.of(0xff, 0xff))), /damaged/);
  const names = plain.indexOf('name', 12, 'latin1');
  t.match(await findRefusal(changed(plain, names, Buffer.from('NAME'))), /no table name/);
  t.match(await findRefusal(changed(plain, names + 8, integer(0xffffffff))), /damaged/);
  for (const font of [plain, latin]) {
    for (let length = 4; length < font.length; length += 997) {
      t.match(await findRefusal(font.subarray(0, length)), /damaged/, `${length} bytes`);
    }
  }
});

/** Returns a font that lists its characters in format 12. */
function withGroups(groups: readonly (readonly [first: number, last: number])[]): Buffer {
  const table = Buffer.alloc(12 + 16 + 12 * groups.length);
  for (const [value, offset] of [
    [1, 2],
    [3, 4],
    [10, 6],
    [12, 12],
  ] as const) {
    table.writeUInt16BE(value, offset);
  }
  table.writeUInt32BE(12, 8);
  table.writeUInt32BE(table.length - 12, 16);
  table.writeUInt32BE(groups.length, 24);
  for (const [index, [first, last]] of groups.entries()) {
    const at = 28 + 12 * index;
    table.writeUInt32BE(first, at);
    table.writeUInt32BE(last, at + 4);
    table.writeUInt32BE(1, at + 8);
  }
  const place = Buffer.concat([integer(plain.length), integer(table.length)]);
  const entry = plain.indexOf('cmap', 12, 'latin1');
  return Buffer.concat([changed(plain, entry + 8, place), table]);
}

t.test('finds the characters of a font in groups', async (t) => {
  const few = withGroups([
    [65, 66],
    [68, 68],
    [0x1f600, 0x1f601],
  ]);
  const { hasCharacter } = await readFont(few);
  const codes = [64, 65, 66, 67, 68, 69, 0x1f5ff, 0x1f600, 0x1f601, 0x1f602];
  t.same(codes.filter(hasCharacter), [65, 66, 68, 0x1f600, 0x1f601]);
  t.notOk((await readFont(withGroups([]))).hasCharacter(65));
});

t.test('finds the characters of a font with a million groups immediately', async (t) => {
  const groups = Array.from({ length: 1_500_000 }, () => [0, 0] as const);
  const { hasCharacter } = await readFont(withGroups([...groups, [65, 0xffff]]));
  const before = usedCpuMs();
  for (let code = 65; code < 565; code += 1) {
    if (!hasCharacter(code)) t.fail(`${code} is missing`);
  }
  const ms = usedCpuMs() - before;
  t.ok(ms < 1_000, `${ms} ms for 500 characters`);
});

t.test('rejects a folder with too many files, and names a file that it rejects', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'a.ttf'), plain.subarray(0, 99));
  await t.rejects(readInstalledFonts(folder), {
    name: 'FontError',
    message: 'The font a.ttf cannot be used: it is damaged.',
  });
  const full = join(folder, 'full');
  await mkdir(full);
  for (let count = 0; count <= maxAddedFonts; count += 1) {
    await writeFile(join(full, `${count}.ttf`), '');
  }
  await t.rejects(readInstalledFonts(full), {
    name: 'FontError',
    message: /201 fonts; at most 200/,
  });
  await t.rejects(readInstalledFonts(join(folder, 'none')), { code: 'ENOENT' });
});
