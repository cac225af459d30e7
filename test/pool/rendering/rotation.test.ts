import t from 'tap';
import { createPng, pngChunks } from '../../hostile/inputs/chunks.ts';
import { allNear, corners, drawn, uprightCorners } from './drawn.ts';
import { blue, green, near, quarters, red, yellow } from './pictures.ts';

const source = await quarters(120, 80).png().toBuffer();
const clear = [0, 0, 0, 0];

t.test('rotates by quarter turns, clockwise', async (t) => {
  for (const sized of [{}, { width: 40 }, { width: 40, height: 40, fit: 'fill' as const }]) {
    const [quarter, half, three] = await Promise.all(
      [90, 180, 270].map((rotate) => drawn(source, { rotate, ...sized })),
    );
    t.ok(quarter && allNear(corners(quarter), [blue, red, yellow, green]), '90');
    t.ok(half && allNear(corners(half), [yellow, blue, green, red]), '180');
    t.ok(three && allNear(corners(three), [green, yellow, red, blue]), '270');
  }
  t.same((await drawn(source, { rotate: 90 })).size, [80, 120]);
  t.same((await drawn(source, { rotate: 270, width: 20 })).size, [20, 30]);
});

t.test('flips, then flops, then rotates, then resizes', async (t) => {
  const upsideDown = await drawn(source, { flip: true });
  t.ok(allNear(corners(upsideDown), [blue, yellow, red, green]));
  const mirrored = await drawn(source, { flop: true });
  t.ok(allNear(corners(mirrored), [green, red, yellow, blue]));
  for (const sized of [{}, { width: 40 }]) {
    const flipped = await drawn(source, { flip: true, rotate: 90, ...sized });
    t.ok(allNear(corners(flipped), [red, blue, green, yellow]), 'flip before rotate');
    const flopped = await drawn(source, { flop: true, rotate: 90, ...sized });
    t.ok(allNear(corners(flopped), [yellow, green, blue, red]), 'flop before rotate');
    const all = await drawn(source, { flip: true, flop: true, rotate: 90, ...sized });
    t.ok(allNear(corners(all), [green, yellow, red, blue]));
  }
});

t.test('applies the position after the rotation', async (t) => {
  const box = { width: 40, height: 40, fit: 'cover' as const };
  const top = await drawn(source, { ...box, rotate: 90, position: 'north' });
  t.ok(near(top.at(3, 26), blue) && near(top.at(36, 26), red));
  const bottom = await drawn(source, { ...box, rotate: 90, position: 'south' });
  t.ok(near(bottom.at(3, 13), yellow) && near(bottom.at(36, 13), green));
  const left = await drawn(source, { ...box, flop: true, position: 'west' });
  t.ok(near(left.at(26, 3), green) && near(left.at(36, 3), red));
});

t.test('adds background at other angles', async (t) => {
  const output = await drawn(source, { rotate: 45 });
  const side = Math.round((120 + 80) * Math.SQRT1_2);
  t.same(output.size, [side, side]);
  t.ok(corners(output).every((corner) => near(corner, clear)));
  t.ok(near(output.at(70, 45), red, 20), 'above the centre');
  t.ok(near(output.at(95, 70), green, 20), 'right of it');
  t.ok(near(output.at(45, 70), blue, 20), 'left of it');
  t.ok(near(output.at(70, 95), yellow, 20), 'below it');

  const back = await drawn(source, { rotate: 347.5, width: 100 });
  t.equal(back.width, 100);
  t.ok(near(back.at(3, 3), clear) && near(back.at(96, 3), clear));
  t.ok(near(back.at(20, 18), [...red, 255], 20), 'counterclockwise');
});

t.test(
  'draws the added background in the requested colour, or white for opaque formats',
  async (t) => {
    for (const rotate of [45, 12.25]) {
      const filled = await drawn(source, { rotate, background: '#804020ff' });
      t.ok(corners(filled).every((corner) => near(corner, [128, 64, 32, 255], 2)));
      const thin = await drawn(source, { rotate, background: '#80402080' });
      t.ok(corners(thin).every((corner) => near(corner, [128, 64, 32, 128], 2)));
      const jpeg = { rotate, formats: ['jpeg'] as const };
      t.ok(corners(await drawn(source, jpeg)).every((corner) => near(corner, [255, 255, 255], 4)));
      const mixed = await drawn(source, { ...jpeg, background: '#ff000080' });
      t.ok(corners(mixed).every((corner) => near(corner, [255, 127, 127], 6)));
      const flat = await drawn(source, { rotate, flatten: true });
      t.ok(corners(flat).every((corner) => near(corner, [255, 255, 255, 255], 2)));
    }
  },
);

t.test('draws no dark fringes on rotated edges', async (t) => {
  for (const name of ['opaque', 'with alpha'] as const) {
    const bright = quarters(80, 80).linear(0, 250);
    const bytes = await (name === 'opaque' ? bright : bright.ensureAlpha()).png().toBuffer();
    const output = await drawn(bytes, { rotate: 30, width: 60 });
    for (let x = 0; x < 60; x += 1) {
      const [r = 0, , , alpha = 0] = output.at(x, 30);
      if (alpha > 40 && r < 235) t.fail(`${name}: ${output.at(x, 30)} at ${x}`);
    }
    t.ok(near(output.at(30, 30), [250, 250, 250, 255]), name);
  }
});

for (const [orientation, colours] of Object.entries(uprightCorners)) {
  t.test(`turns orientation ${orientation} upright`, async (t) => {
    const stored = quarters(160, 80).withMetadata({ orientation: Number(orientation) });
    const source = await stored.jpeg({ chromaSubsampling: '4:4:4' }).toBuffer();
    const turned = Number(orientation) >= 5;
    const [width, height] = turned ? [40, 80] : [80, 40];
    for (const options of [{ width }, { width, height, fit: 'cover' as const }, { height }]) {
      const output = await drawn(source, options);
      t.same(output.size, [width, height], 'the size of the upright image');
      t.ok(allNear(corners(output, 5), colours));
    }
    t.same((await drawn(source)).size, turned ? [80, 160] : [160, 80], 'also without a resize');
  });
}

t.test('reads an orientation only from a single SHORT, like browsers', async (t) => {
  for (const format of ['jpeg', 'png'] as const) {
    const picture = quarters(8, 4).withMetadata({ orientation: 6 });
    const source = await picture.toFormat(format).toBuffer();
    t.same((await drawn(source)).size, [4, 8], `${format}: SHORT`);
    const tag = source.indexOf(Buffer.from([0x12, 0x01, 3, 0, 1, 0, 0, 0]));
    for (const [type, count] of [
      [4, 1],
      [1, 1],
      [3, 2],
    ] as const) {
      const other = Buffer.from(source);
      other.writeUInt16LE(type, tag + 2);
      other.writeUInt32LE(count, tag + 4);
      const sealed = format === 'png' ? createPng(pngChunks(other)) : other;
      t.same((await drawn(sealed)).size, [8, 4], `${format}: type ${type}, ${count}`);
    }
  }
});
