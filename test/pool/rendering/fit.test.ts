import t from 'tap';
import { allNear, corners, drawn } from './drawn.ts';
import { blue, green, near, noise, quarters, red, yellow } from './pictures.ts';

const source = await quarters(400, 200).png().toBuffer();
const clear = [0, 0, 0, 0];
const fits = {
  cover: [100, 100],
  fill: [100, 100],
  inside: [100, 50],
  outside: [200, 100],
} as const;

for (const [fit, size] of Object.entries(fits)) {
  t.test(fit, async (t) => {
    const made = await drawn(source, { width: 100, height: 100, fit: fit as keyof typeof fits });
    const { width, height } = await made.header();
    t.same([made.size, width, height], [size, ...size]);
    t.ok(allNear(corners(made, 2), [red, green, blue, yellow], 6));
  });
}

t.test('contain', async (t) => {
  const made = await drawn(source, { width: 100, height: 100, fit: 'contain' });
  t.same(made.size, [100, 100]);
  t.ok(near(made.at(50, 10), clear) && near(made.at(50, 90), clear));
  t.ok(near(made.at(10, 40), red) && near(made.at(90, 60), yellow));
});

t.test('images are not enlarged, and boxes keep their aspect ratio', async (t) => {
  for (const fit of ['cover', 'contain', 'fill'] as const) {
    const { size } = await drawn(source, { width: 1000, height: 1000, fit });
    t.same(size, fit === 'contain' ? [400, 400] : [200, 200], fit);
  }
  const { at } = await drawn(source, { width: 1000, height: 1000, fit: 'contain' });
  t.ok(near(at(199, 199), red), 'the image in the letterbox has its natural size');
  t.ok(near(at(200, 100), green));
  t.ok(near(at(0, 99), clear));
  t.ok(near(at(0, 100), red));
});

t.test('sizes that do not divide evenly are as planned', async (t) => {
  const odd = await noise(317, 211).jpeg().toBuffer();
  for (const width of [1, 2, 3, 31, 100, 199, 316]) {
    for (const fit of ['cover', 'contain', 'fill'] as const) {
      const made = await drawn(odd, { width, height: 97, fit });
      const header = await made.header();
      t.same([made.size, header.width, header.height], [[width, 97], width, 97], `${fit} ${width}`);
    }
    const { size } = await drawn(odd, { width });
    t.same(size, [width, Math.max(1, Math.round((width * 211) / 317))]);
  }
});
