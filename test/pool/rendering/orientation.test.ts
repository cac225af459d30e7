import sharp from 'sharp';
import t from 'tap';
import { openPool, patient } from '../execution/pools.ts';
import { blue, green, near, pixels, quarters, red, shared, variant, yellow } from './pictures.ts';

const pool = openPool(t, { threads: 2 });

/** EXIF 2.32, tag 0x0112: where the corners of the stored picture go when it is shown upright. */
const corners = {
  1: [red, green, blue, yellow],
  2: [green, red, yellow, blue],
  3: [yellow, blue, green, red],
  4: [blue, yellow, red, green],
  5: [red, blue, green, yellow],
  6: [blue, red, yellow, green],
  7: [yellow, green, blue, red],
  8: [green, yellow, red, blue],
} as const;

for (const [orientation, [topLeft, topRight, bottomLeft, bottomRight]] of Object.entries(corners)) {
  t.test(`orientation ${orientation}`, async (t) => {
    const stored = quarters(160, 80).withMetadata({ orientation: Number(orientation) });
    const source = shared(await stored.jpeg({ chromaSubsampling: '4:4:4' }).toBuffer());
    const turned = Number(orientation) >= 5;
    const [width, height] = turned ? [40, 80] : [80, 40];
    for (const asked of [{ width }, { width, height, fit: 'cover' as const }, { height }]) {
      const made = await pool.transform(source, variant(asked), patient);
      const seen = await pixels(made.body);
      t.same([seen.width, seen.height], [width, height], 'the size is that of the upright picture');
      t.ok(near(seen.at(5, 5), topLeft, 20), 'top left');
      t.ok(near(seen.at(width - 6, 5), topRight, 20), 'top right');
      t.ok(near(seen.at(5, height - 6), bottomLeft, 20), 'bottom left');
      t.ok(near(seen.at(width - 6, height - 6), bottomRight, 20), 'bottom right');
    }
    const whole = await pool.transform(source, variant(), patient);
    t.same([whole.width, whole.height], turned ? [80, 160] : [160, 80], 'without a resize too');
  });
}

t.test('a kept orientation tag does not turn the picture again', async (t) => {
  const stored = quarters(160, 80).withMetadata({ orientation: 6 });
  const source = shared(await stored.jpeg().toBuffer());
  const asked = variant({ formats: ['jpeg'], stripMetadata: false });
  const { body } = await pool.transform(source, asked, patient);
  const header = await sharp(body).metadata();
  t.equal(header.orientation, 1);
  t.ok(header.exif, 'the other tags are kept');
  t.same([header.width, header.height], [80, 160]);
});
