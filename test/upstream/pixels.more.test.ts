import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import '../../pool/rendering/gain-map.ts';
import { ultraHdr } from '../pool/rendering/ultra-hdr.ts';

/**
 * Minimal examples of defects in sharp 0.35 and libvips 8.18, with workarounds in the service. A
 * failing test means that upstream fixed the defect: remove the code in its title.
 */

const plain = (space: 'srgb' | 'b-w') =>
  sharp({ create: { width: 8, height: 8, channels: 3, background: '#808080' } })
    .toColourspace(space)
    .png()
    .toBuffer();
const firstPixel = async (image: Sharp): Promise<number[]> =>
  [...(await image.raw().toBuffer())].slice(0, 3);

const isGrey = ([r, g, b]: readonly number[]) => r === g && g === b;

t.test('draws colours added to grey pixels in grey: `coloured` in plan.ts', async (t) => {
  const background = '#ff8000';
  const grey = await plain('b-w');
  const clear = await sharp(grey).ensureAlpha(0).toColourspace('b-w').png().toBuffer();
  const added = {
    extend: sharp(grey).extend({ left: 2, background }),
    contain: sharp(grey).resize({ width: 16, height: 8, fit: 'contain', background }),
    tint: sharp(grey).tint(background),
    flatten: sharp(clear).flatten({ background }),
    'tint after grayscale': sharp(await plain('srgb'))
      .grayscale()
      .tint(background),
  };
  for (const [name, image] of Object.entries(added)) t.ok(isGrey(await firstPixel(image)), name);
});

t.test(
  'does not open an AVIF with the brand of sequences: `withOpenedBrand` in heif.ts',
  async (t) => {
    const file = await sharp(await plain('srgb'))
      .avif()
      .toBuffer();
    file.write('avis', 8, 'latin1');
    await t.rejects(sharp(file).metadata());
  },
);

t.test('ignores CICP: unsupported-encodings.ts, and `withPngProfile` in png.ts', async (t) => {
  const file = await plain('srgb');
  const pq = Buffer.from('\0\0\0\x04cICP\x09\x10\0\x01\0\0\0\0', 'latin1');
  pq.writeUInt32BE(crc32(pq.subarray(4, 12)), 12);
  const hdr = Buffer.concat([file.subarray(0, 33), pq, file.subarray(33)]);
  t.same(await firstPixel(sharp(hdr)), [128, 128, 128], 'the code values of PQ, as if of sRGB');
});

t.test('makes an inch four times as long at twice the density: svg/size.ts', async (t) => {
  const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1in" height="1in"/>');
  const width = async (density: number) => (await sharp(drawing, { density }).metadata()).width;
  t.same([await width(72), await width(144)], [72, 288]);
});

t.test('reads no EXIF from a TIFF: `keepsExif` in pipeline.ts', async (t) => {
  const tagged = sharp(await plain('srgb')).withExif({ IFD0: { Copyright: 'me' } });
  t.notOk((await tagged.tiff().toBuffer()).includes('me\0'));
});

t.test("does not premultiply a rotation's background: `premultiplied` in steps.ts", async (t) => {
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  const image = sharp({ create: { width: 9, height: 9, channels: 4, background: clear } });
  const background = { r: 120, g: 60, b: 30, alpha: 0.5 };
  const turned = sharp(await image.png().toBuffer()).rotate(45, { background });
  const [red = 0] = await firstPixel(turned);
  t.ok(red > 200, `${red} in place of 120`);
});

t.test('changes alpha in `threshold`: `threshold` in steps.ts', async (t) => {
  const background = { r: 200, g: 200, b: 200, alpha: 0.2 };
  const image = sharp({ create: { width: 8, height: 8, channels: 4, background } });
  const output = await sharp(await image.png().toBuffer())
    .threshold(100)
    .raw()
    .toBuffer();
  t.equal(output[3], 0);
});

const deep = async () =>
  sharp(
    await sharp(await plain('srgb'))
      .tint('#c83c28')
      .toColourspace('rgb16')
      .withIccProfile('p3')
      .png()
      .toBuffer(),
  );

t.test(
  'converts 16 bits to Display P3 but adds no profile: `convert-16-bit` in plan.ts',
  async (t) => {
    const wide = await (await deep()).png().toBuffer();
    t.notOk((await sharp(wide).metadata()).hasProfile);
    const right = sharp(
      await (await deep()).withIccProfile('srgb', { attach: false }).png().toBuffer(),
    );
    t.notSame(await firstPixel(sharp(wide)), await firstPixel(right));
  },
);

// A few of a hundred images keep the profile, because the encoder reads freed memory.
t.test('drops a kept 16-bit profile, or fails: `depthReduced` in plan.ts', async (t) => {
  const changes: Record<string, (image: Sharp) => Sharp> = {
    rotate: (image) => image.rotate(90),
    blur: (image) => image.blur(2),
    normalise: (image) => image.normalise(),
  };
  for (const [name, change] of Object.entries(changes)) {
    let kept = 0;
    for (let count = 0; count < 10; count += 1) {
      const bytes = await change(await deep())
        .keepIccProfile()
        .png()
        .toBuffer()
        .catch(() => null);
      if (bytes !== null && (await sharp(bytes).metadata()).hasProfile) kept += 1;
    }
    t.ok(kept < 10, name);
  }
});

t.test('rejects delays above 65,535 ms: `timing` in steps.ts', async (t) => {
  t.throws(() => sharp().gif({ delay: [65_536] }));
  t.throws(() => sharp().webp({ loop: 65_536 }));
});

t.test(
  "keeps a single page's height when it scales the page: `fromRaw` in pipeline.ts",
  async (t) => {
    const raw = { width: 8, height: 8, channels: 3, pageHeight: 8 } as const;
    const scaled = sharp(Buffer.alloc(8 * 8 * 3), { raw })
      .resize(4, 4)
      .webp();
    const { info } = await scaled.toBuffer({ resolveWithObject: true });
    t.equal(info.pageHeight, 8);
  },
);

t.test('converts EXIF texts to ASCII and drops brackets: `exifText` in copyright.ts', async (t) => {
  const written = async (Copyright: string) => {
    const image = sharp(await plain('srgb')).withExif({ IFD0: { Copyright } });
    return (await sharp(await image.jpeg().toBuffer()).metadata()).exif?.toString('utf8') ?? '';
  };
  t.notMatch(await written('日本'), '日本');
  t.notMatch(await written('me (2024)'), '2024');
});

t.test(
  'rotates a gain map differently from its image: `refusalReason` in gain-map.ts',
  async (t) => {
    const bright = sharp(await plain('srgb')).resize(320, 240);
    const half = {
      create: { width: 160, height: 240, channels: 3, background: '#000000' },
    } as const;
    const image = await bright
      .composite([{ input: half, left: 0, top: 0 }])
      .png()
      .toBuffer();
    const lightHalves = async (output: Sharp) => {
      const bytes = await output.keepGainMap().jpeg({ quality: 100 }).toBuffer();
      const map = (await sharp(bytes).metadata()).gainMap?.image ?? Buffer.alloc(0);
      return Promise.all(
        [bytes, map].map(async (raster) => {
          const two = sharp(raster).resize(2, 2, { fit: 'fill', kernel: 'nearest' }).grayscale();
          return [...(await two.raw().toBuffer())].map((value) => value > 60);
        }),
      );
    };
    const area = { left: 0, top: 0, width: 160, height: 160 };
    for (const [name, [orientation, change]] of Object.entries({
      'orientation and rotation': [3, (output: Sharp) => output.rotate(90).resize(120)],
      'mirror and rotation before a crop': [5, (output: Sharp) => output.extract(area)],
    } as const)) {
      const source = sharp(await ultraHdr(image, orientation)).autoOrient();
      const [picture, map] = await lightHalves(change(source));
      t.notSame(map, picture, name);
    }
    const whole = sharp(await ultraHdr(image)).resize(6, 2);
    await t.rejects(
      whole.keepGainMap().jpeg().toBuffer(),
      'a gain map of less than a pixel is an error',
    );
  },
);

t.test('never frees the output of `toUint8Array`: `write` in pipeline.ts', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const growth = async (render: (image: Sharp) => Promise<unknown>) => {
    collect();
    const before = process.memoryUsage.rss();
    for (let count = 0; count < 80; count += 1) {
      const create = { width: 700, height: 700, channels: 3, background: 'red' } as const;
      await render(sharp({ create }).raw());
      if (count % 10 === 0) collect();
    }
    collect();
    return (process.memoryUsage.rss() - before) / 2 ** 20;
  };
  // Write 112 MiB of outputs, and measure first the memory that the libraries free or keep.
  const freed = await growth((image) => image.toBuffer());
  const kept = await growth((image) => image.toUint8Array());
  t.ok(kept > 80 && kept > 2 * freed, `${Math.round(kept)} MiB, ${Math.round(freed)} MiB`);
});

t.test('omits the border of a window in `info`: `encode` in render.ts', async (t) => {
  const { data, info } = await sharp(await plain('srgb'))
    .resize({ width: 4, height: 4 })
    .extract({ left: 0, top: 0, width: 2, height: 4 })
    .extend({ left: 3 })
    .png()
    .toBuffer({ resolveWithObject: true });
  t.equal(info.width, 2);
  t.equal((await sharp(data).metadata()).width, 5);
});
