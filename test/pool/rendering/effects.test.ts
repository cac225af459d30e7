import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, plain, rendered } from './drawn.ts';
import { near, noise, type Rgb, red } from './pictures.ts';

const brown: Rgb = [200, 100, 50];

async function renderColour(options: Partial<Variant>, from: Rgb = brown, alpha?: number) {
  return (await drawn(await plain(12, 12, from, alpha), options)).at(2, 2);
}

/** Black left of the middle, white right of it. */
const edge = await sharp(await plain(30, 40, [0, 0, 0]))
  .extend({ right: 30, background: 'white' })
  .png()
  .toBuffer();

const modulation = { brightness: 1, saturation: 1, hue: 0, lightness: 0 };

t.test('keeps the luminance in grayscale', async (t) => {
  const [r = 0, g, b] = await renderColour({ grayscale: true });
  t.ok(r === g && g === b && r > 115 && r < 135, `${r}`);
});

t.test('inverts colours and keeps alpha in negate', async (t) => {
  t.ok(near(await renderColour({ negate: true }), [55, 155, 205, 255], 1));
  t.ok(near(await renderColour({ negate: true }, brown, 0.5), [55, 155, 205, 128], 2));
  t.ok(near(await renderColour({ negate: true, formats: ['jpeg'] }), [55, 155, 205, 255], 4));
});

t.test('stretches the luminance to the full range in normalize', async (t) => {
  const levels = Buffer.from(Array.from({ length: 64 }, (_, index) => 80 + index));
  const dull = sharp(levels, { raw: { width: 64, height: 1, channels: 1 } });
  const source = await dull.resize(64, 20, { fit: 'fill' }).png().toBuffer();
  const output = await drawn(source, { normalize: true });
  t.ok((output.at(0, 9)[0] ?? 255) < 10, 'the darkest is black');
  t.ok((output.at(63, 9)[0] ?? 0) > 245, 'the lightest is white');
});

t.test('changes averages, but not uniform colours, in gamma', async (t) => {
  t.ok(near(await renderColour({ gamma: 2.2, width: 6 }), brown, 6));
  const stripes = Buffer.alloc(60 * 20);
  for (let index = 0; index < stripes.length; index += 2) stripes[index] = 255;
  const source = await sharp(stripes, { raw: { width: 60, height: 20, channels: 1 } })
    .png()
    .toBuffer();
  const level = async (gamma: number | null) =>
    (await drawn(source, { width: 20, height: 20, fit: 'fill', gamma })).at(10, 10)[0] ?? 0;
  const [plainly, adjusted] = [await level(null), await level(2.2)];
  t.ok(Math.abs(plainly - 128) < 20 && adjusted > plainly + 30, `${plainly} and ${adjusted}`);
  for (const border of [
    { width: 20, height: 20, fit: 'contain' as const },
    { extend: { top: 9, right: 9, bottom: 9, left: 9 } },
  ]) {
    const output = await drawn(edge, { ...border, gamma: 2.2, background: '#1e5a80ff' });
    t.same(output.at(2, 1), [30, 90, 128, 255], 'the background');
  }
});

t.test('accepts four factors in modulate', async (t) => {
  const modulated = (part: Partial<typeof modulation>) =>
    renderColour({ modulate: { ...modulation, ...part } });
  t.ok(near(await modulated({}), brown, 1), 'no change');
  t.ok(near(await modulated({ brightness: 0, saturation: 0 }), [0, 0, 0], 2), 'brightness 0');
  const [r = 0, g = 0, b = 0] = await modulated({ saturation: 0 });
  t.ok(Math.max(r, g, b) - Math.min(r, g, b) <= 3, 'saturation 0');
  const [, turnedGreen = 0, turnedBlue = 0] = await modulated({ hue: 180 });
  t.ok(turnedBlue > turnedGreen, 'the opposite hue');
  const [bright = 0] = await modulated({ brightness: 1.2 });
  const [light = 0] = await modulated({ lightness: 20 });
  const [dark = 255] = await modulated({ lightness: -20 });
  t.ok(bright > 210 && light > 210 && dark < 190);
});

t.test('multiplies the distance from middle grey in contrast, and keeps alpha', async (t) => {
  for (const alpha of [undefined, 0.4]) {
    for (const more of [{}, { width: 6 }]) {
      const of = async (contrast: number) => renderColour({ contrast, ...more }, brown, alpha);
      const opacity = Math.round((alpha ?? 1) * 255);
      t.ok(near(await of(50), [236, 86, 11, opacity], 2), `${alpha}`);
      t.ok(near(await of(-100), [128, 128, 128, opacity], 2));
      t.ok(near(await of(-20), [186, 106, 66, opacity], 2));
    }
  }
  const both = await renderColour({ contrast: 100, threshold: 90 }, [100, 100, 100]);
  t.same(both, [255, 255, 255, 255], 'after a threshold');
  const deep = await sharp(await plain(9, 9, brown))
    .toColourspace('rgb16')
    .png()
    .toBuffer();
  t.ok(near((await drawn(deep, { contrast: 50 })).at(2, 2), [236, 86, 11, 255], 2), '16 bits');
});

t.test('tones by percent in sepia, also greys and transparent images', async (t) => {
  t.ok(near(await renderColour({ sepia: 100 }), [165, 147, 114, 255], 2));
  t.ok(near(await renderColour({ sepia: 50 }), [182, 123, 82, 255], 2));
  t.ok(near(await renderColour({ sepia: 100, width: 6 }, brown, 0.4), [165, 147, 114, 102], 3));
  t.ok(near(await renderColour({ sepia: 100 }, [255, 255, 255]), [255, 255, 239, 255], 2));
  const grey = await sharp(await plain(9, 9, [100, 100, 100]))
    .toColourspace('b-w')
    .png()
    .toBuffer();
  t.ok(near((await drawn(grey, { sepia: 100 })).at(2, 2), [135, 120, 94, 255], 2), 'a grey source');
});

t.test('gives squares their mean colour in pixelate', async (t) => {
  const photo = await noise(50, 35).png().toBuffer();
  const raw = await sharp(photo).raw().toBuffer();
  const output = await drawn(photo, { pixelate: 20 });
  const mean = (left: number, top: number, right: number, bottom: number) =>
    [0, 1, 2].map((channel) => {
      let sum = 0;
      for (let y = top; y < bottom; y += 1)
        for (let x = left; x < right; x += 1) sum += raw[(y * 50 + x) * 3 + channel] ?? 0;
      return Math.round(sum / ((right - left) * (bottom - top)));
    });
  for (const [x, y, left, top, right, bottom] of [
    [0, 0, 0, 0, 20, 20],
    [39, 19, 20, 0, 40, 20],
    [49, 34, 40, 20, 50, 35],
  ] as const) {
    t.ok(near(output.at(x, y), [...mean(left, top, right, bottom), 255], 1), `${x}, ${y}`);
  }
  const clear = await sharp(await plain(10, 10, [0, 0, 0], 0))
    .composite([{ input: await plain(5, 10, red), left: 0, top: 0 }])
    .png()
    .toBuffer();
  const faint = (await drawn(clear, { pixelate: 10 })).at(9, 9);
  t.ok(near(faint, [...red, 128], 1), 'clear pixels have no colour');
});

t.test('hides areas of the upright source after any crop, turn and resize', async (t) => {
  /** Stripes that a hidden area turns grey. */
  const stripes = Buffer.from(Array.from({ length: 120 * 80 }, (_, at) => (at % 4 < 2 ? 0 : 255)));
  const image = sharp(stripes, { raw: { width: 120, height: 80, channels: 1 } });
  const source = await image.clone().toColourspace('srgb').png().toBuffer();
  const tagged = await image.toColourspace('srgb').withIccProfile('p3').png().toBuffer();
  const area = { left: 20, top: 40, width: 40, height: 20 };
  const isGrey = ([r = 0]: number[]) => r > 90 && r < 165;
  for (const name of ['blurarea', 'pixelatearea'] as const) {
    const hidden = { [name]: [area, { left: 500, top: 0, width: 9, height: 9 }] };
    for (const [options, inside, outside] of [
      [{}, [40, 50], [40, 30]],
      [{ crop: { left: 30, top: 30, width: 60, height: 50 } }, [10, 20], [40, 20]],
      [{ flop: true }, [80, 50], [40, 50]],
      [{ rotate: 90 }, [29, 40], [29, 90]],
      [{ rotate: 180, crop: { left: 0, top: 20, width: 120, height: 60 } }, [80, 30], [40, 30]],
      [{ width: 240, enlarge: true }, [80, 100], [80, 60]],
      [{ width: 40, height: 80, position: 'west' }, [30, 50], [30, 20]],
    ] as [Partial<Variant>, [number, number], [number, number]][]) {
      for (const kept of [{}, { stripMetadata: false }]) {
        const { at } = await drawn(kept.stripMetadata === false ? tagged : source, {
          ...options,
          ...hidden,
          ...kept,
        });
        const around = ([x, y]: [number, number]) =>
          [0, 1, 2, 3]
            .map((more) => at(x + more, y))
            .concat([1, 2, 3].map((more) => at(x, y + more)));
        t.ok(around(inside).every(isGrey), `${name} ${JSON.stringify(options)}: inside`);
        t.notOk(around(outside).every(isGrey), 'outside');
      }
    }
  }
});

t.test('maps brightness to two colours in duotone, and darkens corners in vignette', async (t) => {
  const duotone = { dark: '#ff0000ff', light: '#0000ffff' } as const;
  t.ok(near(await renderColour({ duotone }, [0, 0, 0]), [255, 0, 0, 255], 1));
  t.ok(near(await renderColour({ duotone }, [255, 255, 255]), [0, 0, 255, 255], 1));
  t.ok(near(await renderColour({ duotone }, [102, 102, 102], 0.4), [153, 0, 102, 102], 2));
  const { at } = await drawn(await plain(101, 51, [200, 100, 50]), { vignette: 50 });
  t.ok(near(at(50, 25), [200, 100, 50, 255], 1), 'the middle');
  t.ok(near(at(0, 25), [150, 75, 38, 255], 3), 'a side');
  t.ok(near(at(100, 50), [100, 50, 25, 255], 4), 'a corner');
});

t.test('encodes a JPEG in several scans in progressive, with the same pixels', async (t) => {
  const photo = await noise(40, 30).blur(1).png().toBuffer();
  const jpeg = async (progressive: boolean) => {
    const { body } = await rendered(photo, { progressive, formats: ['jpeg'] });
    const { isProgressive } = await sharp(body).metadata();
    return { isProgressive, pixels: await sharp(body).raw().toBuffer() };
  };
  const [several, single] = [await jpeg(true), await jpeg(false)];
  t.same([several.isProgressive, single.isProgressive], [true, false]);
  t.same(several.pixels, single.pixels);
  const png = await drawn(photo, { progressive: true });
  t.notOk((await png.header()).isProgressive);
});

t.test('states the density without other metadata, unless metadata are kept', async (t) => {
  const source = await sharp(await plain(20, 10, brown))
    .withExif({ IFD0: { Copyright: 'Ada' } })
    .withDensity(96)
    .jpeg({ quality: 20 })
    .toBuffer();
  for (const format of ['jpeg', 'png'] as const) {
    for (const density of [30, 72, 300, 10_000]) {
      const output = await drawn(source, { density, formats: [format], negotiated: true });
      const header = await output.header();
      t.equal(header.density, density, `${format} ${density}`);
      t.notOk(header.exif?.includes('Ada'), 'no other EXIF');
      const kept = { density, formats: [format], stripMetadata: false } as const;
      const { exif } = await (await drawn(source, kept)).header();
      t.ok(exif?.includes('Ada'));
      const own = { density, formats: [format], copyright: true } as const;
      const withCopyright = await (await drawn(source, own)).header();
      t.ok(withCopyright.exif?.includes('Ada') && withCopyright.density === density);
    }
  }
  const avif = await drawn(source, { density: 300, formats: ['avif'] });
  t.same(avif.body, (await drawn(source, { formats: ['avif'] })).body);
});

t.test('keeps metadata and profile in operations on raw pixels', async (t) => {
  const source = await sharp(await plain(20, 10, brown))
    .withIccProfile('p3')
    .withExif({ IFD0: { Copyright: 'Ada' } })
    .jpeg({ quality: 100 })
    .toBuffer();
  const output = await drawn(source, { sepia: 100, stripMetadata: false, formats: ['jpeg'] });
  const { exif, hasProfile } = await output.header();
  t.ok(exif?.includes('Ada') && hasProfile);
  const [r = 0, g = 0, b = 0] = output.at(4, 4);
  t.ok(r > g + 10 && g > b + 10, `${[r, g, b]}`);
});

t.test('gives the luminance a single hue in tint', async (t) => {
  const [r = 0, g = 0, b = 0] = await renderColour({ tint: '#0000ffff' }, [128, 128, 128]);
  t.ok(b > r + 50 && b > g + 50, `${[r, g, b]}`);
  t.ok(near(await renderColour({ tint: '#0000ffff' }, [255, 255, 255]), [255, 255, 255], 4));
});

t.test('returns two values from threshold', async (t) => {
  const level = (value: number, threshold: number, more: Partial<Variant> = {}) =>
    renderColour({ threshold, ...more }, [value, value, value]);
  const [black, white] = [
    [0, 0, 0, 255],
    [255, 255, 255, 255],
  ];
  for (const more of [{}, { width: 6 }]) {
    t.same(await level(127, 128, more), black);
    t.same(await level(128, 128, more), white, 'white from the threshold on');
    t.same(await level(0, 0, more), white, '0: always white');
    t.same(await level(254, 255, more), black);
    t.same(await level(255, 255, more), white, '255: only white');
    t.same(await level(0, 1, more), black);
  }
  const faint = await renderColour({ threshold: 128, width: 6 }, [250, 250, 250], 0.4);
  t.ok(near(faint, [255, 255, 255, 102], 1), 'alpha is kept and does not darken');
  const soft = await drawn(edge, { threshold: 128, blur: 4 });
  t.ok((soft.at(30, 20)[0] ?? 0) > 90 && (soft.at(30, 20)[0] ?? 0) < 165, 'blur follows it');
});

t.test('removes specks in median, even with a window larger than the image', async (t) => {
  const speck = { input: await plain(1, 1, [255, 255, 255]), left: 10, top: 10 };
  const source = await sharp(await plain(20, 20, brown))
    .composite([speck])
    .png()
    .toBuffer();
  t.ok(near((await drawn(source)).at(10, 10), [255, 255, 255]));
  t.ok(near((await drawn(source, { median: 3 })).at(10, 10), brown));
  for (const [width, height] of [
    [1, 1],
    [3, 40],
    [40, 3],
  ] as const) {
    const small = await plain(width, height, brown);
    t.ok(near((await drawn(small, { median: 15 })).at(0, 0), brown), `${width} x ${height}`);
    const extend = { top: 9, right: 9, bottom: 9, left: 9 };
    const padded = await drawn(small, { median: 15, extend, backdrop: { blur: null } });
    t.ok(near(padded.at(0, 0), brown), `${width} x ${height} with a backdrop`);
  }
});

t.test('softens an edge by sigma in blur', async (t) => {
  const near30 = async (blur: number) => (await drawn(edge, { blur })).at(27, 20)[0] ?? -1;
  t.equal(await near30(0.3), 0, '0.3');
  const [little, much] = [await near30(2), await near30(10)];
  t.ok(little > 2 && much > little + 20 && much < 128, `${little}, ${much}`);
  const all = await drawn(edge, { blur: 100 });
  t.same(all.size, [60, 40]);
  t.ok(Math.abs((all.at(0, 20)[0] ?? 0) - (all.at(59, 20)[0] ?? 0)) < 100, '100');
});

t.test('makes edges steeper in sharpen', async (t) => {
  const soft = await sharp(edge).blur(2).png().toBuffer();
  const rise = async (options: Partial<Variant>) => {
    const output = await drawn(soft, options);
    return (output.at(31, 20)[0] ?? 0) - (output.at(28, 20)[0] ?? 0);
  };
  const before = await rise({});
  t.ok((await rise({ sharpen: 2 })) > before + 10);
  t.ok(Math.abs((await rise({ sharpen: 0.01 })) - before) <= 3, 'the smallest sigma');
  t.ok((await rise({ sharpen: 10 })) > before, 'the largest sigma');
});
