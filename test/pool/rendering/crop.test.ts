import t from 'tap';
import { allNear, corners, drawn, uprightCorners } from './drawn.ts';
import { blue, green, near, quarters, red, yellow } from './pictures.ts';

const source = await quarters(120, 80).png().toBuffer();
const middle = { left: 30, top: 20, width: 60, height: 40 };

t.test('returns the crop', async (t) => {
  const part = await drawn(source, { crop: { left: 50, top: 0, width: 20, height: 30 } });
  t.same(part.size, [20, 30]);
  t.ok(near(part.at(9, 15), red));
  t.ok(near(part.at(10, 15), green));
  const smaller = await drawn(source, { crop: middle, width: 30 });
  t.same(smaller.size, [30, 20]);
  t.ok(allNear(corners(smaller), [red, green, blue, yellow]));
});

t.test('clips a crop to the source', async (t) => {
  const part = await drawn(source, { crop: { left: 100, top: 70, width: 5000, height: 5000 } });
  t.same(part.size, [20, 10]);
  t.ok(near(part.at(0, 0), yellow));
  const whole = await drawn(source, { crop: { left: 0, top: 0, width: 5000, height: 5000 } });
  t.same(whole.size, [120, 80]);
});

t.test('rejects a crop outside the source as an invalid parameter', async (t) => {
  for (const [left, top] of [
    [120, 0],
    [0, 80],
  ] as const) {
    const crop = { left, top, width: 10, height: 10 };
    await t.rejects(drawn(source, { crop }), { code: 'parameter_invalid', message: /120 x 80/ });
  }
});

for (const [orientation, colours] of Object.entries(uprightCorners)) {
  t.test(`crops the upright image in orientation ${orientation}`, async (t) => {
    const stored = await quarters(120, 80)
      .withMetadata({ orientation: Number(orientation) })
      .png()
      .toBuffer();
    const turned = Number(orientation) >= 5;
    const [across, down] = turned ? [80, 120] : [120, 80];
    const [topLeft, topRight, bottomLeft, bottomRight] = colours;
    const crop = { left: across / 2 - 10, top: 0, width: 30, height: 20 };
    const part = await drawn(stored, { crop });
    t.same(part.size, [30, 20]);
    t.ok(near(part.at(9, 10), topLeft), 'left of the middle');
    t.ok(near(part.at(10, 10), topRight), 'right of the middle');

    const whole = { left: 4, top: 4, width: across - 8, height: down - 8 };
    const quarter = await drawn(stored, { crop: whole, rotate: 90, width: 40 });
    t.same(quarter.size, [40, Math.round((40 * (across - 8)) / (down - 8))]);
    t.ok(
      allNear(corners(quarter), [bottomLeft, topLeft, bottomRight, topRight]),
      'rotated after the crop',
    );

    const slanted = await drawn(stored, { crop: whole, rotate: 180.5, width: 60 });
    t.ok(
      allNear(corners(slanted, 8), [bottomRight, bottomLeft, topRight, topLeft]),
      'rotated by any angle',
    );

    const kept = await drawn(stored, { crop: whole, rotate: 90, stripMetadata: false });
    t.ok(allNear(corners(kept), [bottomLeft, topLeft, bottomRight, topRight]), 'oriented once');
    t.equal((await kept.header()).orientation ?? 1, 1, 'the tag is reset');
  });
}

t.test('applies flip and flop after the crop', async (t) => {
  const corner = { left: 0, top: 0, width: 60, height: 80 };
  const flopped = await drawn(source, { crop: corner, flop: true });
  t.same(flopped.size, [60, 80]);
  t.ok(allNear(corners(flopped), [red, red, blue, blue]), 'flop');
  const flipped = await drawn(source, { crop: corner, flip: true, width: 30 });
  t.same(flipped.size, [30, 40]);
  t.ok(allNear(corners(flipped), [blue, blue, red, red]), 'flip');
});

t.test('enlarges a crop', async (t) => {
  const crop = { left: 59, top: 39, width: 2, height: 2 };
  const part = await drawn(source, { crop, width: 100, enlarge: true, kernel: 'nearest' });
  t.same(part.size, [100, 100]);
  t.ok(allNear(corners(part), [red, green, blue, yellow]));
});
