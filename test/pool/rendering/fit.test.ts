import sharp from 'sharp';
import t from 'tap';
import { type Gravity, gravities } from '../../../contract/image-terms.ts';
import type { Variant } from '../../../pool/variant.ts';
import { allNear, corners, drawn, plain } from './drawn.ts';
import { blue, gradient, green, near, noise, quarters, red, yellow } from './pictures.ts';

const clear = [0, 0, 0, 0];
const source = await quarters(400, 200).png().toBuffer();

t.test('resizes to the requested size with cover, fill, inside and outside', async (t) => {
  const sizes = { cover: [100, 100], fill: [100, 100], inside: [100, 50], outside: [200, 100] };
  for (const [fit, size] of Object.entries(sizes)) {
    const output = await drawn(source, { width: 100, height: 100, fit: fit as 'cover' });
    const { width, height } = await output.header();
    t.same([output.size, width, height], [size, ...size], fit);
    t.ok(allNear(corners(output, 2), [red, green, blue, yellow], 6), fit);
  }
});

t.test('adds transparent borders with contain instead of enlarging the image', async (t) => {
  const small = await drawn(source, { width: 100, height: 100, fit: 'contain' });
  t.ok(near(small.at(50, 10), clear) && near(small.at(50, 90), clear));
  t.ok(near(small.at(10, 40), red) && near(small.at(90, 60), yellow));
  const { size, at } = await drawn(source, { width: 1000, height: 1000, fit: 'contain' });
  t.same(size, [400, 400]);
  t.ok(near(at(199, 199), red) && near(at(200, 100), green));
  t.ok(near(at(0, 99), clear) && near(at(0, 100), red));
});

t.test('pads to a kept box with contain, but does not enlarge the image', async (t) => {
  const kept = { width: 1000, height: 600, fit: 'contain', enlarge: 'box' } as const;
  for (const more of [{}, { negate: true, background: '#00000000' }, { rotate: 180 }] as const) {
    const { size, at } = await drawn(source, { ...kept, ...more });
    t.same(size, [1000, 600]);
    t.ok(near(at(299, 300), clear) && near(at(700, 300), clear), 'beside the image');
    t.ok(near(at(500, 199), clear) && near(at(500, 400), clear), 'above and below the image');
    t.ok([at(301, 201), at(698, 398)].every(([, , , alpha]) => alpha === 255));
  }
  const { at } = await drawn(source, { ...kept, position: 'southeast' });
  t.ok(near(at(601, 401), red) && near(at(998, 598), yellow) && near(at(599, 500), clear));
  const wide = await drawn(source, { ...kept, height: 100, fit: 'cover' });
  t.same(wide.size, [400, 100], 'cover shortens each side to that of the image');
  t.ok(near(wide.at(2, 2), red) && near(wide.at(398, 98), yellow));
});

/** The position along each axis: 0 start, 1 middle, 2 end. */
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

const wide = await gradient(120, 40);
const high = await gradient(40, 120);
const box = { width: 40, height: 40 } as const;

for (const position of gravities) {
  const [across, down] = places[position];
  t.test(`crops at ${position} with cover`, async (t) => {
    const x = (await drawn(wide, { ...box, fit: 'cover', position })).at(0, 0)[0];
    t.equal(x, across * 80, 'of a wide picture');
    const y = (await drawn(high, { ...box, fit: 'cover', position })).at(0, 0)[1];
    t.equal(y, down * 80, 'of a high one');
  });

  t.test(`places the image at ${position} with contain`, async (t) => {
    const options = { width: 120, height: 120, fit: 'contain', position } as const;
    const below = await drawn(wide, options);
    t.same([below.at(0, down * 40), below.at(0, down * 40 + 39)[1]], [[0, 0, 0, 255], 78], 'wide');
    if (down > 0) t.ok(near(below.at(5, down * 40 - 1), clear), 'nothing above it');
    if (down < 2) t.ok(near(below.at(5, down * 40 + 40), clear), 'nothing below it');
    const withBackground = await drawn(high, { ...options, background: '#0000ffff' });
    t.same(withBackground.at(across * 40, 0), [0, 0, 0, 255], 'high');
    if (across > 0) t.same(withBackground.at(across * 40 - 1, 5), [0, 0, 255, 255]);
    if (across < 2) t.same(withBackground.at(across * 40 + 40, 5), [0, 0, 255, 255]);
  });
}

t.test('crops to a ratio at the requested position, and adds background', async (t) => {
  const cut = await drawn(wide, { aspectRatio: 1, fit: 'cover', position: 'east' });
  t.same([cut.size, cut.at(0, 0)[0]], [[40, 40], 2 * 80]);
  const around = { aspectRatio: 2, fit: 'cover', position: { x: 0, y: 1 } } as const;
  const low = await drawn(high, around);
  t.same([low.size, low.at(0, 0)[1]], [[40, 20], 2 * 100]);
  const padded = await drawn(wide, { aspectRatio: 1, fit: 'contain', position: 'north' });
  t.same([padded.size, padded.at(0, 39)[1], padded.at(0, 41)], [[120, 120], 78, clear]);
});

t.test('keeps the part around a focal point with cover', async (t) => {
  /** Returns the source pixel at the output's first pixel. */
  const start = async (source: Buffer, options: Partial<Variant>) => {
    const [red = 0, green = 0] = (await drawn(source, { fit: 'cover', ...options })).at(0, 0);
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

  const right = { fit: 'cover', position: { x: 0.75, y: 0 } } as const;
  const small = await drawn(wide, { ...right, width: 30, height: 20 });
  t.same(small.size, [30, 20]);
  t.ok(near(small.at(0, 0), [2 * 60, 1, 0, 255], 4), 'scaled by half, around 45 of 60');
  const drawing =
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><path fill="red" d="M40 0h20v20H40z"/></svg>';
  const vector = await drawn(drawing, { ...right, ...box });
  t.same([vector.at(9, 5), vector.at(11, 5)], [clear, [255, 0, 0, 255]], 'of an SVG');
});

t.test('applies a focal point to every frame', async (t) => {
  const frames = sharp([wide, wide], { join: { animated: true } });
  const moving = await frames.webp({ lossless: true }).toBuffer();
  for (const more of [{}, { blur: 0.3 }]) {
    const options = {
      ...box,
      fit: 'cover',
      position: { x: 0.3, y: 0 },
      formats: ['webp'],
    } as const;
    const output = await drawn(moving, { ...options, ...more, lossless: true });
    for (const page of [0, 1]) {
      const frame = await output.frame(page);
      t.same([frame.width, frame.height], [40, 40]);
      t.ok(near(frame.at(0, 0), [32, 0, 0, 255], 2), `frame ${page}`);
    }
  }
});

t.test('finds the part with details with entropy and attention', async (t) => {
  const busy = await noise(40, 40).png().toBuffer();
  for (const left of [0, 150]) {
    const input = sharp(await plain(190, 40, [255, 255, 255])).composite([
      { input: busy, left, top: 0 },
    ]);
    const source = await input.png().toBuffer();
    for (const position of ['entropy', 'attention'] as const) {
      for (const enlarge of [false, true]) {
        const size = enlarge ? 80 : 40;
        const options = { width: size, height: size, fit: 'cover', position, enlarge } as const;
        const output = await drawn(source, options);
        t.same(output.size, [size, size]);
        const { channels } = await sharp(output.body).stats();
        t.ok((channels[0]?.mean ?? 255) < 215, `${position} at ${left}, ${size} px`);
      }
    }
  }
});

t.test('uses the centre for a strategy if it does not crop', async (t) => {
  for (const position of ['entropy', 'attention'] as const) {
    const output = await drawn(wide, { width: 120, height: 120, fit: 'contain', position });
    t.ok(near(output.at(5, 39), clear) && near(output.at(5, 80), clear), position);
    t.same((await drawn(wide, { width: 60, position })).size, [60, 20]);
  }
});
