import fc from 'fast-check';
import sharp from 'sharp';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { usedCpuMs } from '../../clock.ts';
import { propertyRuns } from '../../extended.ts';
import { le16, le32 } from '../../hostile/inputs/chunks.ts';
import { openPool, patient } from '../execution/pools.ts';
import { allNear, corners, drawn, opened, plain } from '../rendering/drawn.ts';
import {
  blue,
  green,
  near,
  noise,
  type Rgb,
  red,
  shared,
  variant,
  yellow,
} from '../rendering/pictures.ts';
import { recognised } from './named.ts';

/** Colours of the quarters. */
const palette: readonly Rgb[] = [red, green, blue, yellow];
/** An odd width, which requires padded rows. */
const [width, height] = [13, 8];
const indexAt = (x: number, row: number) => (row < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1);
const padded = (row: Buffer) => Buffer.concat([row, Buffer.alloc(-row.length & 3)]);

interface Form {
  readonly bits: number;
  readonly header?: number;
  readonly packing?: number;
  readonly masks?: readonly number[];
  readonly topDown?: boolean;
  /** Bytes between the palette and the pixels. */
  readonly gap?: number;
  /** Replaces the rows. */
  readonly runs?: Buffer;
}

/** Encodes a colour as a pixel of 16 or 32 bits by masks. */
function masked([r, g, b]: Rgb, [red = 0, green = 0, blue = 0, alpha = 0]: readonly number[]) {
  return ((r ? red : 0) | (g ? green : 0) | (b ? blue : 0) | alpha) >>> 0;
}

function createRows({ bits, masks, topDown = false }: Form): Buffer {
  const usual = bits === 16 ? [0x7c00, 0x3e0, 0x1f] : [0xff0000, 0xff00, 0xff];
  const rows = Array.from({ length: height }, (_, row) => {
    const indexes = Array.from({ length: width }, (_unused, x) => indexAt(x, row));
    if (bits > 8) {
      const pixels = indexes.map((index) => {
        const pixel = masked(palette[index] ?? red, masks ?? usual);
        return le32(pixel).subarray(0, bits / 8);
      });
      return padded(Buffer.concat(pixels));
    }
    const packed = Buffer.alloc(Math.ceil((width * bits) / 8));
    for (const [x, index] of indexes.entries()) {
      const byte = (x * bits) >> 3;
      packed[byte] =
        (packed[byte] ?? 0) | ((index & (2 ** bits - 1)) << (8 - bits - ((x * bits) & 7)));
    }
    return padded(packed);
  });
  return Buffer.concat(topDown ? rows : rows.reverse());
}

/** Returns a bitmap that lacks a file header. */
function bitmap(form: Form, rows = height) {
  const { bits, header = 40, packing = 0, masks = [], topDown = false, gap = 0 } = form;
  const head = Buffer.alloc(header);
  head.writeUInt32LE(header);
  if (header === 12) {
    head.writeUInt16LE(width, 4);
    head.writeUInt16LE(height, 6);
    head.writeUInt16LE(1, 8);
    head.writeUInt16LE(bits, 10);
  } else {
    head.writeInt32LE(width, 4);
    head.writeInt32LE(topDown ? -rows : rows, 8);
    head.writeUInt16LE(1, 12);
    head.writeUInt16LE(bits, 14);
    head.writeUInt32LE(packing, 16);
  }
  for (const [index, mask] of masks.entries()) {
    if (header > 40) head.writeUInt32LE(mask, 40 + 4 * index);
  }
  const behind = header === 40 ? masks.map(le32) : [];
  const colours = Array.from({ length: bits > 8 ? 0 : 2 ** bits }, (_, index) => {
    const [r, g, b] = palette[index] ?? red;
    return Buffer.from(header === 12 ? [b, g, r] : [b, g, r, 0]);
  });
  const before = Buffer.concat([head, ...behind, ...colours, Buffer.alloc(gap, 0xee)]);
  return { before, pixels: form.runs ?? createRows(form) };
}

function bmp(form: Form): Buffer {
  const { before, pixels } = bitmap(form);
  const size = 14 + before.length + pixels.length;
  const file = [Buffer.from('BM'), le32(size), le32(0), le32(14 + before.length)];
  return Buffer.concat([...file, before, pixels]);
}

/** Runs, single pixels and ends of rows, from the lowest row. */
function runs(bits: 4 | 8 | 24): Buffer {
  const rows = Array.from({ length: height }, (_, from) => {
    const row = height - 1 - from;
    const [left, right] = [0, width - 1].map((x) => {
      const index = indexAt(x, row);
      if (bits === 24) return [...(palette[index] ?? red)].reverse();
      return [bits === 8 ? index : index * 17];
    }) as [number[], number[]];
    const single = bits === 4 ? [...left, ...left] : [...left, ...left, ...left, 0];
    const rest = bits === 24 ? [0, 6, ...Array(6).fill(right).flat()] : [6, ...right];
    return [4, ...left, 0, 3, ...single, ...rest, 0, 0];
  });
  return Buffer.from([...rows.flat(), 0, 1]);
}

const forms: Readonly<Record<string, Form>> = {
  '2 bits': { bits: 2 },
  '4 bits': { bits: 4 },
  '8 bits': { bits: 8 },
  '8 bits, from top to bottom': { bits: 8, topDown: true },
  '8 bits, of OS/2': { bits: 8, header: 12 },
  '8 bits, of OS/2 2': { bits: 8, header: 64 },
  '8 bits, pixels at an offset': { bits: 8, gap: 40 },
  '4 bits, run lengths': { bits: 4, packing: 2, runs: runs(4) },
  '8 bits, run lengths': { bits: 8, packing: 1, runs: runs(8) },
  '24 bits, run lengths of OS/2': { bits: 24, header: 64, packing: 4, runs: runs(24) },
  '24 bits, run lengths in a header of 40 bytes': { bits: 24, packing: 4, runs: runs(24) },
  '16 bits': { bits: 16 },
  '16 bits, 5-6-5': { bits: 16, packing: 3, masks: [0xf800, 0x7e0, 0x1f] },
  '24 bits': { bits: 24 },
  '24 bits, of OS/2': { bits: 24, header: 12 },
  '24 bits, version 5': { bits: 24, header: 124 },
  '32 bits': { bits: 32 },
  '32 bits, red in the lowest byte': { bits: 32, packing: 3, masks: [0xff, 0xff00, 0xff0000] },
  '32 bits, ten for each colour': { bits: 32, packing: 3, masks: [0x3ff00000, 0xffc00, 0x3ff] },
};

t.test('decodes all forms of bitmaps', async (t) => {
  for (const [name, form] of Object.entries(forms)) {
    const output = await drawn(bmp(form));
    t.same(output.size, [width, height], name);
    t.ok(allNear(corners(output, 0), palette, 1), `${name}: ${corners(output, 0).join(' ')}`);
    t.ok(near(output.at(width >> 1, height - 1), blue, 1), `${name}: the middle of the last row`);
  }
  const two = await drawn(bmp({ bits: 1 }));
  t.ok(near(two.at(0, 0), red) && near(two.at(12, 7), green), '1 bit');
});

t.test('uses alpha if the header contains an alpha mask', async (t) => {
  const masks = [0xff0000, 0xff00, 0xff, 0x80000000];
  const oneBit = await drawn(bmp({ bits: 32, header: 124, packing: 3, masks }));
  t.equal(oneBit.at(2, 2)[3], 255, 'alpha of one bit');
  const short = [0xf00, 0xf0, 0xf, 0xf000];
  const output = await drawn(bmp({ bits: 16, header: 56, packing: 3, masks: short }));
  t.same(output.at(2, 2), [255, 0, 0, 255]);
  t.equal((await drawn(bmp({ bits: 32 }))).at(2, 2)[3], 255, 'no mask');

  const file = (header: number, alpha: number) => {
    const bytes = bmp({ bits: 32, header });
    bytes.writeUInt32LE(0xff000000, 14 + 52);
    for (let at = 14 + header + 3; at < bytes.length; at += 4) bytes[at] = alpha;
    return bytes;
  };
  for (const header of [56, 108, 124]) {
    t.same((await drawn(file(header, 128))).at(0, 0), [...red, 128], `a header of ${header} bytes`);
  }
  const clear = file(124, 0);
  t.same((await drawn(clear)).at(0, 0), [...red, 255], 'alpha of 0 everywhere is ignored');
  clear[clear.length - 1] = 1;
  t.equal((await drawn(clear)).at(0, 0)[3], 0, 'alpha of 0 is used if one pixel differs');
  t.same((await drawn(file(64, 128))).at(0, 0), [...red, 255], 'not in a header of OS/2');
});

t.test('renders skipped pixels of run lengths as transparent', async (t) => {
  // Two pixels, the row end, a skip of three columns and two rows, a pixel, and the end.
  for (const form of [
    { bits: 4, packing: 2, runs: [2, 0x11, 0, 0, 0, 2, 3, 2, 1, 0x11, 0, 1] },
    { bits: 8, packing: 1, runs: [2, 1, 0, 0, 0, 2, 3, 2, 1, 1, 0, 1] },
    {
      bits: 24,
      packing: 4,
      header: 64,
      runs: [2, 0, 255, 0, 0, 0, 0, 2, 3, 2, 1, 0, 255, 0, 0, 1],
    },
  ]) {
    const file = bmp({ ...form, runs: Buffer.from(form.runs) });
    const { at } = await drawn(file);
    const seen: string[] = [];
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) if (at(x, y)[3] !== 0) seen.push(`${x} ${y} ${at(x, y)}`);
    }
    const last = height - 1;
    const pixels = [`3 ${last - 3}`, `0 ${last}`, `1 ${last}`].map((run) => `${run} 0,255,0,255`);
    t.same(seen, pixels, `${form.bits} bits`);
    const { contentType } = await drawn(file, { formats: [] });
    t.equal(contentType, 'image/png', 'the default output format has transparency');
  }
  const { contentType } = await drawn(bmp({ bits: 8, packing: 1, runs: runs(8) }), { formats: [] });
  t.equal(contentType, 'image/jpeg', 'it has none if nothing is skipped');
  const none = bmp({ bits: 8, packing: 1, runs: Buffer.from([0, 1]) });
  t.equal((await drawn(none)).at(3, 3)[3], 0, 'all pixels are skipped');
});

/** Returns an ICO of several images. */
function ico(pictures: readonly Buffer[], type = 1): Buffer {
  let offset = 6 + 16 * pictures.length;
  const entries = pictures.map((picture) => {
    const entry = Buffer.alloc(16);
    entry.writeUInt32LE(picture.length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += picture.length;
    return entry;
  });
  const head = [le16(0), le16(type), le16(pictures.length)];
  return Buffer.concat([...head, ...entries, ...pictures]);
}

/** Returns an icon's bitmap with a mask that hides its left column. */
function icon(form: Form): Buffer {
  const { before, pixels } = bitmap(form, 2 * height);
  const mask = Array.from({ length: height }, () => Buffer.from([0x80, 0, 0, 0]));
  return Buffer.concat([before, pixels, ...mask]);
}

t.test('uses the largest image of an ICO, as PNG or bitmap', async (t) => {
  const large = await noise(40, 40).png().toBuffer();
  const small = icon({ bits: 8 });
  t.same((await drawn(ico([small, large]))).size, [40, 40]);
  t.same((await drawn(ico([large, small]))).size, [40, 40]);
  const few = ico([await plain(40, 40, blue), await plain(40, 40, red)]);
  for (const [entry, bits] of [4, 32].entries()) few.writeUInt16LE(bits, 6 + 16 * entry + 6);
  t.ok(near((await drawn(few)).at(5, 5), red), 'the deepest of equal sizes');
  for (const bits of [1, 8, 24, 32]) {
    const cursorOrIcon = bits === 8 ? 2 : 1;
    const { size, at } = await drawn(ico([icon({ bits })], cursorOrIcon));
    t.same(size, [width, height]);
    t.same([at(0, 3)[3], at(1, 3)[3]], [0, 255], `${bits} bits: the mask is used`);
    t.ok(near(at(2, 1), red), `${bits} bits`);
  }
  const masks = [0xff0000, 0xff00, 0xff, 0xff000000];
  const withMasks = icon({ bits: 32, masks });
  const alpha = Buffer.concat([withMasks.subarray(0, 40), withMasks.subarray(56)]);
  t.equal((await drawn(ico([alpha]))).at(0, 3)[3], 255, 'alpha replaces the mask');
  const short = ico([small]);
  short.writeUInt32LE(8, 14);
  t.same((await drawn(short)).size, [width, height], 'a wrong length in the directory');
});

t.test('transforms bitmaps like any source, in a process', async (t) => {
  const pool = openPool(t);
  for (const source of [bmp({ bits: 24 }), ico([icon({ bits: 8 })])]) {
    const options = variant({
      formats: ['webp'],
      width: 6,
      rotate: 90,
      stripMetadata: false,
      copyright: true,
      keepProfile: true,
      gainMap: true,
      crop: { left: 0, top: 0, width: 12, height: 8 },
    });
    const output = await pool.transform(shared(source), options, patient);
    t.match(await sharp(output.body).metadata(), { format: 'webp', width: 6, height: 9 });
    const facts = await pool.transform(shared(source), variant({ placeholder: 'json' }), patient);
    const { source: described } = JSON.parse(Buffer.from(facts.body).toString());
    t.match(described, { format: recognised(source), width, height });
    const { body } = await pool.transform(shared(source), variant({ formats: [] }), patient);
    t.match((await sharp(body).metadata()).format, recognised(source) === 'bmp' ? 'jpeg' : 'png');
  }
});

t.test('rejects unsupported and corrupt bitmaps before it allocates pixels', async (t) => {
  const sized = (sides: number) => {
    const file = bmp({ bits: 24 });
    file.writeInt32LE(sides, 18);
    file.writeInt32LE(sides, 22);
    return file;
  };
  const jpeg = bmp({ bits: 24, packing: 4, header: 124 });
  const truncatedRuns = bmp({ bits: 8, packing: 1, runs: runs(8).subarray(0, 30) });
  const noColour = bmp({ bits: 24, packing: 4, header: 64, runs: Buffer.from([9, 1, 2]) });
  const depth7 = bmp({ bits: 7, runs: Buffer.alloc(900) });
  const refused: readonly (readonly [string, Buffer, string, RegExp])[] = [
    ['a JPEG inside', jpeg, 'source_unsupported', /JPEG inside/],
    ['a JPEG of 0 bits', bmp({ bits: 0, packing: 4 }), 'source_unsupported', /JPEG inside/],
    ['a depth of 7', depth7, 'source_unsupported', /7 bits/],
    ['many pixels', sized(20_000), 'source_too_large', /400000000 pixels/],
    ['no pixels', sized(0), 'source_corrupt', /no pixels/],
    ['truncated pixels', bmp({ bits: 24 }).subarray(0, 200), 'source_corrupt', /last pixel/],
    ['truncated runs', truncatedRuns, 'source_corrupt', /last/],
    ['a run without its colour', noColour, 'source_corrupt', /last/],
    ['an icon of zeros', ico([Buffer.alloc(60)]), 'source_corrupt', /header/],
  ];
  for (const [name, source, code, message] of refused) {
    await t.rejects(drawn(source), { code, message }, name);
  }
});

t.test("spends no time per pixel on runs past the row's end", async (t) => {
  const source = bmp({ bits: 8, packing: 1, runs: Buffer.alloc(20_000_000, 255) });
  const before = usedCpuMs();
  await t.rejects(drawn(source), { code: 'source_corrupt' });
  const ms = usedCpuMs() - before;
  // This takes 0.3 s. Time per pixel made it 25 s.
  t.ok(ms < 5_000, `${Math.round(ms)} ms`);
});

t.test('decodes or rejects damaged files', async () => {
  const sources = [...Object.values(forms).map(bmp), ico([icon({ bits: 8 }), icon({ bits: 32 })])];
  const change = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...sources),
      fc.array(change, { minLength: 1, maxLength: 5 }),
      async (source, changes) => {
        const bytes = Buffer.from(source);
        for (const [at, value] of changes) bytes[Math.floor(at ** 3 * bytes.length)] = value;
        const kind = recognised(bytes);
        if (kind !== 'bmp' && kind !== 'ico') return true;
        try {
          const { facts, input } = await opened(bytes, 1_000_000);
          const { raw } = input.options;
          return raw === undefined || (raw.width === facts.width && raw.height === facts.height);
        } catch (error) {
          return error instanceof ServiceError && /^source_/.test(error.code);
        }
      },
    ),
    { numRuns: propertyRuns(1_500) },
  );
});
