import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { pngOfRows } from '../../../pool/formats/heic/png.ts';
import { requireSupportedFormat } from '../../../pool/formats/source-formats.ts';
import { listChildren } from '../../children.ts';
import { root } from '../../root.ts';
import { until } from '../../until.ts';
import { openPool, patient } from '../execution/pools.ts';
import {
  allNear,
  corners,
  described,
  drawn,
  inspected,
  plain,
  renderedIfLight,
} from '../rendering/drawn.ts';
import {
  blue,
  green,
  near,
  red,
  shared,
  variant,
  watermark,
  yellow,
} from '../rendering/pictures.ts';
import { withCodes } from './colour-codes.ts';

/** Reads a file that heic/make.py made. */
const heic = (name: string): Buffer =>
  readFileSync(new URL(`test/pool/formats/heic/${name}.heic`, root));
const colours = [red, green, blue, yellow];

/** Replaces bytes at an offset from the first occurrence of a box type. */
function changed(file: Buffer, type: string, offset: number, bytes: Buffer): Buffer {
  const copy = Buffer.from(file);
  bytes.copy(copy, copy.indexOf(type) + offset);
  return copy;
}

/** Returns a file with another image size in its header. */
function claiming(file: Buffer, width: number, height: number): Buffer {
  const copy = Buffer.from(file);
  for (let at = copy.indexOf('ispe'); at >= 0; at = copy.indexOf('ispe', at + 1)) {
    copy.writeUInt32BE(width, at + 8);
    copy.writeUInt32BE(height, at + 12);
  }
  // The crop to an odd size.
  copy.write('free', copy.indexOf('clap'), 'latin1');
  return copy;
}

/** Returns the first item in the grid's references. */
const readTile = (file: Buffer): Buffer => {
  const at = file.indexOf('dimg') + 8;
  return file.subarray(at, at + 2);
};

const sequence = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypmsf1\0\0\0\0msf1hevc', 'latin1'),
  Buffer.from('\0\0\0\x08moov', 'latin1'),
]);

t.test('decodes a HEIC, including tiled files', async (t) => {
  for (const [name, size] of [
    ['quarters', [64, 48]],
    ['tiles', [150, 100]],
  ] as const) {
    const image = await drawn(heic(name));
    t.same(image.size, size);
    t.ok(allNear(corners(image), colours), `${name}: ${corners(image)}`);
  }
  const part = await drawn(heic('tiles'), { crop: { left: 75, top: 0, width: 75, height: 50 } });
  t.same(part.size, [75, 50]);
  t.ok(near(part.middle, green, 20));
  t.equal((await drawn(heic('quarters'), { formats: [] })).contentType, 'image/jpeg');
});

t.test(
  'decodes a HEIC that also names the AVIF brand in a process, if HEIC is allowed',
  async (t) => {
    const source = Buffer.from(heic('quarters'));
    source.write('avif', 16, 'latin1');
    t.match(await renderedIfLight(source), { isolated: true });
    t.throws(
      () =>
        requireSupportedFormat({ bytes: source, contentType: null }, { heic: false, pdf: true }),
      { code: 'source_unsupported' },
    );
    t.same((await drawn(source)).size, [64, 48]);
  },
);

t.test('decodes an AVIF with the generic HEIF major brand', async (t) => {
  const source = await sharp(await plain(64, 48, red))
    .avif()
    .toBuffer();
  source.write('mif1', 8, 'latin1');
  t.ok(near((await drawn(source)).middle, red, 10));
});

t.test('describes the HEIC in fmt=json', async (t) => {
  const facts = async (name: string) => (await described(heic(name))).source;
  const bytes = ({ byteLength }: Buffer) => ({ bytes: byteLength });
  t.same(await facts('turned'), {
    format: 'heif',
    width: 48,
    height: 64,
    ...bytes(heic('turned')),
    pages: 1,
    frames: 1,
    // Width and height already include the container's orientation.
    orientation: 1,
    hasAlpha: false,
    profile: null,
  });
  t.equal((await facts('p3')).profile, 'sP3C');
  t.match(await facts('alpha'), { width: 64, height: 48, hasAlpha: true });
  t.match(await facts('two'), { width: 32, height: 40, pages: 2 });
});

t.test("applies the container's orientation once", async (t) => {
  const turned = [blue, red, yellow, green];
  for (const options of [{}, { stripMetadata: false }, { copyright: true }]) {
    const image = await drawn(heic('turned'), options);
    t.same(image.size, [48, 64]);
    t.ok(allNear(corners(image), turned), `${JSON.stringify(options)}: ${corners(image)}`);
  }
});

t.test('keeps metadata on request', async (t) => {
  const header = async (options: object) => (await drawn(heic('turned'), options)).header();
  const kept = await header({ stripMetadata: false });
  t.match(kept.exif?.toString('latin1'), /Jane Doe/);
  t.match(kept.xmp?.toString(), /xmpmeta/);
  t.equal(kept.orientation ?? 1, 1);
  t.match((await header({ copyright: true })).exif?.toString('latin1'), /Jane Doe/);
  const { exif, xmp } = await header({});
  t.same([exif, xmp], [undefined, undefined]);
});

t.test('keeps alpha', async (t) => {
  const image = await drawn(heic('alpha'));
  t.ok(near(image.at(3, 40), [...blue, 215], 12), `${image.at(3, 40)}`);
  t.ok(near(image.at(3, 20), [...red, 109], 12), `${image.at(3, 20)}`);
});

t.test('decodes 10 bits to 8', async (t) => {
  const source = heic('ten-bit');
  t.equal((await inspected(source, 1e6)).colour.is16Bit, false);
  t.ok(near((await drawn(source)).at(512, 8), [128, 128, 128], 3));
});

t.test("returns the profile's colours", async (t) => {
  const source = heic('p3');
  const { icc } = await sharp(source).metadata();
  t.ok(near((await drawn(source)).middle, red, 3), 'converted to sRGB');
  const kept = await drawn(source, { keepProfile: true });
  t.same((await kept.header()).icc, icc);
  const [r, g, b] = await sharp(kept.body).keepIccProfile().raw().toBuffer();
  t.ok(near([r ?? 0, g ?? 0, b ?? 0], [234, 51, 35], 3), 'in Display P3');
  const coded = await drawn(withCodes(source, 12, 13));
  t.ok(near(coded.middle, red, 3), `of the colour codes: ${coded.middle}`);
});

t.test('defaults to the primary image', async (t) => {
  for (const [page, size, colour] of [
    [null, [32, 40], blue],
    [0, [64, 48], red],
    [1, [32, 40], blue],
  ] as const) {
    const image = await drawn(heic('two'), { page });
    t.same(image.size, size);
    t.ok(near(image.middle, colour, 20), `page ${page}: ${image.middle}`);
  }
  await t.rejects(drawn(heic('two'), { page: 2 }), { code: 'parameter_invalid' });
});

t.test('draws the whole image if the file marks its thumbnail as primary', async (t) => {
  const second = changed(heic('thumbnail'), 'pitm', 8, Buffer.from([0, 2]));
  for (const source of [heic('thumbnail'), second]) t.same((await drawn(source)).size, [64, 48]);
});

t.test('decodes a HEIC of more items than libvips opens', async (t) => {
  for (const kept of [{}, { stripMetadata: false }, { copyright: true }]) {
    const image = await drawn(heic('items'), kept);
    t.same(image.size, [1088, 1024]);
    t.ok(allNear(corners(image), colours), `${corners(image)}`);
  }
});

t.test('decodes a HEIC with a brand that libvips does not open', async (t) => {
  const other = changed(heic('quarters'), 'ftyp', 4, Buffer.from('mif2'));
  t.same((await drawn(other)).size, [64, 48]);
});

t.test('copies pixels once, into an uncompressed PNG', async (t) => {
  const [width, height] = [30_000, 200];
  const before = process.memoryUsage().arrayBuffers;
  const none = { icc: undefined, exif: undefined, xmp: undefined };
  const png = pngOfRows({ width, height, channels: 3 }, none, (y, row) => row.fill(y));
  const grown = process.memoryUsage().arrayBuffers - before;
  t.ok(grown < 1.5 * png.length, `${grown} bytes for a PNG of ${png.length}`);
  const data = await sharp(png).raw().toBuffer();
  t.ok(data.every((sample, at) => sample === Math.floor(at / (3 * width))));
});

t.test('rejects a HEIC in an unreadable encoding as unsupported, not corrupt', async (t) => {
  const quarters = heic('quarters');
  const tiles = heic('tiles');
  const coded = (type: string) => changed(quarters, 'hvc1', 0, Buffer.from(type));
  // Reference from the alpha image to its image, with the direction of a prediction.
  const predicted = changed(heic('alpha'), 'auxl', 0, Buffer.from('pred\0\x01\0\x01\0\x02'));
  for (const [name, source, message] of [
    ['JPEG 2000', coded('j2k1'), /unsupported encoding \(JPEG 2000\)\. To use it/],
    ['AVC', coded('avc1'), /\(AVC\)/],
    ['another one', coded('abcd'), /\(abcd\)/],
    ['tiles', changed(tiles, 'hvc1', 0, Buffer.from('unci')), /\(uncompressed pixels\)/],
    ['prediction', predicted, /predicted from another image/],
    // 16 of 1,024 columns.
    [
      'a small part',
      changed(heic('ten-bit'), 'clap', 6, Buffer.from([0, 16])),
      /maximum image size/,
    ],
    ['one tile twice', changed(tiles, 'dimg', 10, readTile(tiles)), /double references/],
    ['a sequence', sequence, /only a sequence.*frames/],
  ] as const) {
    await t.rejects(drawn(source), { code: 'source_unsupported', message }, name);
  }
});

t.test('accepts a HEIC as a watermark', async (t) => {
  const below = await plain(100, 100, yellow);
  const mark = watermark({ position: 'center', scale: 50 });
  t.ok(near((await drawn(below, { layers: mark }, heic('two'))).middle, blue, 20));
});

t.test('rejects a header size that differs from the image size', async (t) => {
  await t.rejects(drawn(claiming(heic('quarters'), 100_000, 100_000)), {
    code: 'source_too_large',
    message: /10000000000 pixels/,
  });
  await t.rejects(drawn(claiming(heic('quarters'), 60, 40)), { code: 'source_corrupt' });
});

t.test('decodes or rejects damaged files', async (t) => {
  const file = heic('quarters');
  const truncated = file.subarray(0, file.indexOf('mdat') + 20);
  await t.rejects(drawn(truncated), { code: 'source_corrupt' });
  const withoutLastTile = heic('tiles').subarray(0, -100);
  await t.rejects(drawn(withoutLastTile), { code: 'source_corrupt', message: /completely/ });
  for (let at = 40; at < file.length; at += 37) {
    const copy = Buffer.from(file);
    copy[at] = 255 - (copy[at] ?? 0);
    const result = await drawn(copy).catch((error: unknown) => error);
    const isOwn = result instanceof ServiceError && result.code.startsWith('source_');
    t.ok(isOwn || !(result instanceof Error), `byte ${at}: ${result}`);
  }
});

t.test('decodes a HEIC in a process with limits on memory and time', async (t) => {
  const pool = openPool(t, { transformProcessMemoryBytes: 144 * 2 ** 20 });
  const small = shared(heic('quarters'));
  t.equal((await pool.transform(small, variant(), patient)).width, 64);
  await until('a process', () => listChildren(process.pid).length > 0);
  const large = shared(heic('large'));
  await t.rejects(pool.transform(large, variant(), patient), {
    code: 'source_too_large',
    message: /memory/,
  });
  t.equal((await pool.transform(small, variant(), patient)).width, 64);
});
