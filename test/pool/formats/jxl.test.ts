import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import sharp from 'sharp';
import t from 'tap';
import { jxlParts, readJxlHeader } from '../../../pool/formats/jxl/header.ts';
import { readableFormats } from '../../../pool/formats/source-formats.ts';
import { more } from '../../extended.ts';
import { root } from '../../root.ts';
import { openPool, patient } from '../execution/pools.ts';
import {
  allNear,
  corners,
  described,
  drawn,
  rendered,
  renderedIfLight,
  uprightCorners,
} from '../rendering/drawn.ts';
import {
  blue,
  green,
  near,
  noise,
  red,
  shared,
  variant,
  watermark,
  yellow,
} from '../rendering/pictures.ts';

/** Reads a file that jxl/make.mjs made. */
const jxl = (name: string): Buffer =>
  readFileSync(new URL(`test/pool/formats/jxl/${name}.jxl`, root));
/** Each decoding takes half a second of CPU time. */
const skip = !more && 'npm run test:more';
const colours = [red, green, blue, yellow];
const signature = jxl('turned').subarray(0, 32);

function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const data = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + data.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, data]);
}

/** Wraps boxes into a file. */
const boxed = (...boxes: readonly Buffer[]): Buffer => Buffer.concat([signature, ...boxes]);

type Field = readonly [value: number, bits: number];

/** Returns a codestream header with each value in bits, the lowest first. */
function codestream(fields: readonly Field[]): Buffer {
  const bits = fields.flatMap(([value, count]) =>
    Array.from({ length: count }, (_, at) => Math.floor(value / 2 ** at) % 2),
  );
  const bytes = Buffer.alloc(2 + Math.ceil(bits.length / 8));
  bytes.writeUInt16BE(0xff0a);
  for (const [at, bit] of bits.entries()) {
    const byte = 2 + (at >> 3);
    bytes[byte] = (bytes[byte] ?? 0) | (bit << (at & 7));
  }
  return bytes;
}

t.test('decodes a JPEG XL upright, with its colours', async (t) => {
  t.ok(readableFormats({ heic: true, pdf: true }).includes('JPEG XL'));
  const turned = await drawn(jxl('turned'));
  t.same(turned.size, [30, 40]);
  t.ok(allNear(corners(turned), uprightCorners[6]));
  const deep = await drawn(jxl('deep'));
  t.same(deep.size, [40, 30]);
  t.ok(allNear(corners(deep), colours), '16 bits');
});

t.test('decodes greys, transparency and a converted JPEG', { skip }, async (t) => {
  t.ok(allNear(corners(await drawn(jxl('quarters'))), colours));
  t.ok(allNear(corners(await drawn(jxl('from-jpeg'))), uprightCorners[6]));
  const grey = await drawn(jxl('grey'));
  t.ok(near(grey.at(3, 3).slice(0, 3), grey.at(3, 4).slice(0, 3)), 'grey');
  t.ok(near((await drawn(jxl('alpha'))).at(3, 3), [255, 0, 0, 128]), 'transparency');
});

t.test('converts Display P3 to sRGB, or keeps its colours and profile', async (t) => {
  const request = { formats: ['png'], lossless: true } as const;
  if (more) t.notOk((await (await drawn(jxl('p3'), request)).header()).hasProfile);
  const kept = await drawn(jxl('p3'), { ...request, keepProfile: true });
  t.ok((await kept.header()).hasProfile);
  t.ok(near(kept.at(3, 25), [0, 0, 255]));
  if (more) t.match(await described(jxl('p3')), { source: { format: 'jxl' } });
});

t.test('reads copyright and metadata from plain and compressed boxes', async (t) => {
  const whole = await drawn(jxl('from-jpeg'), { stripMetadata: false, formats: ['jpeg'] });
  const { exif, orientation } = await whole.header();
  t.match(exif?.toString('latin1'), /The owner/);
  t.equal(orientation ?? 1, 1, 'upright once');
});

t.test('keeps only the copyright of the metadata, or drops all metadata', { skip }, async (t) => {
  const copyright = await drawn(jxl('from-jpeg'), { copyright: true, formats: ['jpeg'] });
  t.match((await copyright.header()).xmp?.toString(), /The owner/);
  const stripped = await drawn(jxl('from-jpeg'), { formats: ['jpeg'] });
  t.equal((await stripped.header()).exif, undefined);
});

t.test('decompresses a single box of many with metadata', async (t) => {
  const zeros = brotliCompressSync(Buffer.alloc(2 ** 20));
  const bombs = Array.from({ length: 500 }, () => box('brob', Buffer.from('xml '), zeros));
  const source = boxed(box('jxlc', jxl('quarters')), ...bombs);
  const before = process.memoryUsage().rss;
  t.equal(jxlParts(source, true).xmp?.length, 2 ** 20);
  const mebibytes = (process.memoryUsage().rss - before) / 2 ** 20;
  t.ok(mebibytes < 100, `${mebibytes} MiB`);
});

t.test('joins a codestream from several boxes, and omits compressed boxes', async (t) => {
  const bomb = brotliCompressSync(Buffer.alloc(64 * 2 ** 20), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
  });
  const whole = jxl('quarters');
  const parts = [whole.subarray(0, 3), whole.subarray(3, 50), whole.subarray(50)];
  const numbered = parts.map((part, index) =>
    box('jxlp', Buffer.from([index === 2 ? 0x80 : 0, 0, 0, index]), part),
  );
  const source = boxed(
    box('brob', Buffer.from('xml '), bomb),
    box('brob', Buffer.from('Exif'), Buffer.from('no Brotli')),
    ...numbered,
  );
  const image = await drawn(source, { stripMetadata: false, copyright: true });
  t.ok(allNear(corners(image), colours));
  t.equal((await image.header()).xmp, undefined, 'its decompressed size is not known before');
});

t.test('uses the first frame of an animation', { skip }, async (t) => {
  const still = await drawn(jxl('two'), { formats: ['webp'] });
  t.equal((await still.header()).pages ?? 1, 1);
  t.ok(near(still.at(10, 10), [255, 0, 0, 255], 20));
});

t.test('accepts a JPEG XL as a layer', { skip }, async (t) => {
  const below = await sharp({ create: { width: 80, height: 60, channels: 3, background: '#000' } })
    .png()
    .toBuffer();
  const layers = watermark();
  const image = await drawn(below, { layers }, shared(jxl('quarters')));
  const seen = Array.from({ length: 80 * 60 }, (_, at) => image.at(at % 80, Math.floor(at / 80)));
  t.ok(seen.some((pixel) => near(pixel, [255, 0, 0, 255], 30)));
});

/** Fields of a header, with one bit each for flags. */
const [no, yes]: readonly Field[] = [
  [0, 1],
  [1, 1],
];

t.test('reads the size from the header', async (t) => {
  const size = (...fields: readonly (Field | undefined)[]) =>
    readJxlHeader(codestream(fields.filter((field) => field !== undefined)));
  // Height 40 with a separate width, at 4:3, and rotated.
  t.match(size(yes, [4, 5], [0, 3], [9, 5], yes), { width: 80, height: 40 });
  t.match(size(yes, [4, 5], [3, 3], yes), { width: 53, height: 40 });
  t.match(size(no, [3, 2], [99_999, 30], [7, 3], yes), { width: 200_000, height: 100_000 });
  const turned = [no, yes, [5, 3], [0, 3]] as const;
  const eightBits = [no, [0, 2], no] as const;
  const found = size(yes, [4, 5], [7, 3], ...turned, ...eightBits, [0, 2], yes, yes);
  t.match(found, { width: 40, height: 80, bits: 8 });
});

t.test('reads from the header whether alpha multiplies the colours', async (t) => {
  const sixteenBits = [no, [3, 2], [15, 6]] as const;
  const before = [yes, [4, 5], [1, 3], no, no, ...sixteenBits, no, [1, 2]] as const;
  const read = (...alpha: readonly (Field | undefined)[]) => {
    const all = [...before, ...alpha, yes, yes] as readonly (Field | undefined)[];
    return readJxlHeader(codestream(all.filter((field) => field !== undefined)));
  };
  const channel = [no, [0, 2], ...sixteenBits, [0, 2], [0, 2]] as const;
  t.match(read(...channel, yes), { premultiplied: true, bits: 16 });
  t.match(read(...channel, no), { premultiplied: false });
  t.match(read(yes), { premultiplied: false });
});

t.test('names each unsupported feature that it rejects', async (t) => {
  const eightBits = [no, [0, 2]] as const;
  const before = [yes, [4, 5], [1, 3], no, no, ...eightBits, no] as const;
  const refused = (...fields: readonly (Field | undefined)[]) => {
    const all = [...before, ...fields, [0, 64]] as readonly (Field | undefined)[];
    return () => readJxlHeader(codestream(all.filter((field) => field !== undefined)));
  };
  const oneChannel: Field = [1, 2];
  const channel = (type: number) =>
    [no, [2, 2], [type - 2, 4], ...eightBits, [0, 2], [0, 2]] as const;
  const unsupported = (message: RegExp) => ({ code: 'source_unsupported', message });
  t.throws(refused(oneChannel, ...channel(4)), unsupported(/\(black\)/));
  t.throws(refused(oneChannel, ...channel(2)), unsupported(/\(a spot colour\)/));
  t.throws(refused([2, 2], [0, 4], yes, yes), unsupported(/\(a second alpha\)/));
  await t.rejects(rendered(jxl('pq')), unsupported(/HDR image \(PQ\)/));
});

t.test('rejects damaged files', async (t) => {
  const whole = jxl('quarters');
  const cases: Readonly<Record<string, Buffer>> = {
    'a signature': whole.subarray(0, 2),
    'a truncated header': whole.subarray(0, 4),
    'truncated pixels': whole.subarray(0, whole.length - 60),
    ...(more && {
      'other pixels': Buffer.concat([whole.subarray(0, 30), Buffer.alloc(300, 0x55)]),
    }),
    'no image': boxed(box('Exif', Buffer.alloc(8))),
    'a box beyond the end': Buffer.concat([signature, Buffer.from([0, 0, 0, 99])]),
  };
  for (const [name, source] of Object.entries(cases)) {
    await t.rejects(rendered(source), { code: 'source_corrupt' }, name);
  }
});

t.test('estimates its memory from the header', async (t) => {
  for (const [name, each] of [
    ['quarters', 22],
    ['deep', 42],
    ['alpha', 22 * (4 / 3)],
  ] as const) {
    const cost = { bytes: 2 ** 28 + each * 40 * 30 };
    t.match(await renderedIfLight(jxl(name)), { isolated: true, cost }, name);
  }
});

t.test('checks the size limit before it decodes anything, on a thread', async (t) => {
  const pool = openPool(t, { sourceMaxPixels: 1_000 });
  const pixels = pool.transform(shared(jxl('quarters')), variant({}), patient);
  await t.rejects(pixels, { code: 'source_too_large', message: /1200 pixels/ });
});

t.test('refuses an image that needs more memory than its decoder has, on a thread', async (t) => {
  const sized = (side: number, ...after: readonly (Field | undefined)[]) => {
    const all = [no, [3, 2], [side - 1, 30], [1, 3], ...after, [0, 64], [0, 64]] as const;
    return codestream(all.filter((field) => field !== undefined));
  };
  const eightBits = sized(10_000, yes);
  const sixteenBits = sized(6_000, no, no, no, [3, 2], [15, 6], no, [0, 2], yes, yes);
  const pool = openPool(t);
  for (const source of [eightBits, sixteenBits]) {
    const refused = pool.transform(shared(source), variant({}), patient);
    await t.rejects(refused, { code: 'source_too_large', message: /needs about \d+ MiB/ });
  }
  const layers = [shared(eightBits)];
  const request = { ...patient, layers };
  const below = shared(await noise(40, 30).png().toBuffer());
  await t.rejects(pool.transform(below, variant({ layers: watermark() }), request), {
    code: 'source_too_large',
    message: /^The watermark cannot be used.* needs about \d+ MiB/,
  });
});

t.test('decodes a 36-megapixel image', { skip }, async (t) => {
  const image = await drawn(jxl('large'), { width: 70 });
  t.same(image.size, [70, 70]);
});

t.test('decodes a JPEG XL in a process', async (t) => {
  const pool = openPool(t);
  const image = await pool.transform(
    shared(jxl('quarters')),
    variant({ formats: ['png'] }),
    patient,
  );
  t.match(image, { contentType: 'image/png', width: 40, height: 30 });
});
