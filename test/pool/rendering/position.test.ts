import sharp from 'sharp';
import t from 'tap';
import { type Gravity, gravities, type Variant } from '../../../pool/variant.ts';
import { drawn, plain } from './drawn.ts';
import { near, noise, type Rgb } from './pictures.ts';

const white = [255, 255, 255, 255];
const clear = [0, 0, 0, 0];

/** Where each gravity is along both axes: start, middle, end. */
const places: Readonly<Record<Gravity, readonly [across: 0 | 1 | 2, down: 0 | 1 | 2]>> = {
  northwest: [0, 0],
  north: [1, 0],
  northeast: [2, 0],
  west: [0, 1],
  center: [1, 1],
  east: [2, 1],
  southwest: [0, 2],
  south: [1, 2],
  southeast: [2, 2],
};

/** Red grows to the right, green downwards, so that a pixel's colour tells its place. */
function map(width: number, height: number): Promise<Buffer> {
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) data.set([x * 2, y * 2, 0], (y * width + x) * 3);
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

const wide = await map(120, 40);
const high = await map(40, 120);
const box = { width: 40, height: 40 } as const;

for (const position of gravities) {
  const [across, down] = places[position];
  t.test(`${position}: the part that cover keeps`, async (t) => {
    const x = (await drawn(wide, { ...box, fit: 'cover', position })).at(0, 0)[0];
    t.equal(x, across * 80, 'of a wide picture');
    const y = (await drawn(high, { ...box, fit: 'cover', position })).at(0, 0)[1];
    t.equal(y, down * 80, 'of a high one');
  });

  t.test(`${position}: the position for contain`, async (t) => {
    const asked = { width: 120, height: 120, fit: 'contain', position } as const;
    const below = await drawn(wide, asked);
    t.same([below.at(0, down * 40), below.at(0, down * 40 + 39)[1]], [[0, 0, 0, 255], 78], 'wide');
    if (down > 0) t.ok(near(below.at(5, down * 40 - 1), clear), 'nothing above it');
    if (down < 2) t.ok(near(below.at(5, down * 40 + 40), clear), 'nothing below it');
    const beside = await drawn(high, { ...asked, background: '#0000ffff' });
    t.same(beside.at(across * 40, 0), [0, 0, 0, 255], 'high');
    if (across > 0) t.same(beside.at(across * 40 - 1, 5), [0, 0, 255, 255]);
    if (across < 2) t.same(beside.at(across * 40 + 40, 5), [0, 0, 255, 255]);
  });
}

t.test('cover keeps the part around a focal point', async (t) => {
  /** The place of the output's first pixel in the source, which its colour tells. */
  const start = async (source: Buffer, asked: Partial<Variant>) => {
    const [red = 0, green = 0] = (await drawn(source, { fit: 'cover', ...asked })).at(0, 0);
    return [red / 2, green / 2];
  };
  const at = (x: number, y: number) => ({ ...box, position: { x, y } });
  t.same(await start(wide, at(0.3, 0.9)), [16, 0], 'around 36');
  t.same(await start(high, at(0.9, 0.75)), [0, 70], 'around 90');
  t.same(await start(wide, at(0, 0)), [0, 0]);
  t.same(await start(wide, at(1, 1)), [80, 0]);
  t.same(await start(high, at(0.1, 0.05)), [0, 0]);

  const crop = { left: 20, top: 0, width: 100, height: 40 };
  t.same(await start(wide, { ...at(0.5, 0), crop }), [50, 0], 'of what crop leaves');
  t.same(await start(wide, { ...at(0.25, 0), flop: true }), [109, 0], 'of the mirrored picture');
  t.same(await start(wide, { ...at(0, 0.25), rotate: 90 }), [10, 39], 'of the rotated one');
  t.same(await start(wide, { ...at(0.3, 0), blur: 0.3, gamma: 1 }), [16, 0], 'before the filters');
  const edges = { top: 1, right: 2, bottom: 3, left: 4 };
  const bordered = await drawn(wide, { ...at(0.3, 0), fit: 'cover', extend: edges, gamma: 2 });
  t.same(bordered.size, [46, 44]);
  t.ok(near(bordered.at(4, 1), [32, 0, 0, 255], 2), 'in passes too');

  const small = await drawn(wide, {
    width: 30,
    height: 20,
    fit: 'cover',
    position: { x: 0.75, y: 0 },
  });
  t.same(small.size, [30, 20]);
  t.ok(near(small.at(0, 0), [2 * 60, 1, 0, 255], 4), 'scaled by half, around 45 of 60');
  const drawing =
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><path fill="red" d="M40 0h20v20H40z"/></svg>';
  const vector = await drawn(drawing, { ...box, fit: 'cover', position: { x: 0.75, y: 0.5 } });
  t.same([vector.at(9, 5), vector.at(11, 5)], [clear, [255, 0, 0, 255]], 'of an SVG');
});

t.test('a focal point applies to every frame', async (t) => {
  const frames = sharp([wide, wide], { join: { animated: true } });
  const moving = await frames.webp({ lossless: true }).toBuffer();
  for (const more of [{}, { blur: 0.3 }]) {
    const asked = { ...box, fit: 'cover', position: { x: 0.3, y: 0 }, formats: ['webp'] } as const;
    const made = await drawn(moving, { ...asked, ...more, lossless: true });
    for (const page of [0, 1]) {
      const frame = await made.frame(page);
      t.same([frame.width, frame.height], [40, 40]);
      t.ok(near(frame.at(0, 0), [32, 0, 0, 255], 2), `frame ${page}`);
    }
  }
});

t.test('entropy and attention find the part with details', async (t) => {
  const busy = await noise(40, 40).png().toBuffer();
  for (const left of [0, 150]) {
    const input = sharp(await plain(190, 40, [255, 255, 255])).composite([
      { input: busy, left, top: 0 },
    ]);
    const source = await input.png().toBuffer();
    for (const position of ['entropy', 'attention'] as const) {
      for (const enlarge of [false, true]) {
        const size = enlarge ? 80 : 40;
        const asked = { width: size, height: size, fit: 'cover', position, enlarge } as const;
        const made = await drawn(source, asked);
        t.same(made.size, [size, size]);
        const { channels } = await sharp(made.body).stats();
        t.ok((channels[0]?.mean ?? 255) < 215, `${position} at ${left}, ${size} px`);
      }
    }
  }
});

t.test('a strategy is the centre when nothing is cropped', async (t) => {
  for (const position of ['entropy', 'attention'] as const) {
    const made = await drawn(wide, { width: 120, height: 120, fit: 'contain', position });
    t.ok(near(made.at(5, 39), clear) && near(made.at(5, 80), clear), position);
    t.same((await drawn(wide, { width: 60, position })).size, [60, 20]);
  }
});

t.test('each side of a border has its own width', async (t) => {
  const extend = { top: 1, right: 2, bottom: 3, left: 4 };
  const orange: Rgb = [255, 128, 0];
  const made = await drawn(wide, { width: 60, extend, background: '#ff8000ff' });
  t.same(made.size, [66, 24]);
  t.ok(near(made.at(4, 1), [0, 0, 0, 255], 8), 'the image begins after it');
  t.ok(near(made.at(3, 1), orange, 0) && near(made.at(4, 0), orange, 0));
  t.ok(near(made.at(63, 20), [236, 76, 0], 8), 'and ends before it');
  t.ok(near(made.at(64, 20), orange, 0) && near(made.at(63, 21), orange, 0));
  t.ok(near((await drawn(wide, { extend })).at(0, 0), clear), 'transparent');
  const jpeg = await drawn(wide, { extend, formats: ['jpeg'] });
  t.ok(near(jpeg.at(1, 1), white, 60), 'white in JPEG');
  const thin = await drawn(wide, { extend, background: '#ff800080' });
  t.ok(near(thin.at(0, 0), [255, 128, 0, 128], 1), 'half transparent');
});

t.test('flatten blends transparency with the background', async (t) => {
  const half = await plain(20, 20, [0, 0, 200], 0.5);
  const flat = await drawn(half, { flatten: true, background: '#c80000ff' });
  t.ok(near(flat.at(5, 5), [100, 0, 100, 255], 2));
  t.ok(near((await drawn(half, { flatten: true })).at(5, 5), [128, 128, 228, 255], 2), 'white');
  const thin = await drawn(half, { flatten: true, background: '#c8000080', formats: ['webp'] });
  t.ok(
    near(thin.at(5, 5), [113, 63, 163, 255], 6),
    'a transparent background is blended with white',
  );
  const jpeg = await drawn(half, { background: '#c80000ff', formats: ['jpeg'] });
  t.ok(near(jpeg.at(5, 5), [100, 0, 100, 255], 6), 'always in JPEG');
  const kept = await drawn(half, { background: '#c80000ff' });
  t.ok(near(kept.at(5, 5), [0, 0, 200, 128], 2), 'only on request in other formats');
});
