import t from 'tap';
import { allNear, corners, drawn, uprightCorners } from './drawn.ts';
import { quarters } from './pictures.ts';

for (const [orientation, colours] of Object.entries(uprightCorners)) {
  t.test(`orientation ${orientation}`, async (t) => {
    const stored = quarters(160, 80).withMetadata({ orientation: Number(orientation) });
    const source = await stored.jpeg({ chromaSubsampling: '4:4:4' }).toBuffer();
    const turned = Number(orientation) >= 5;
    const [width, height] = turned ? [40, 80] : [80, 40];
    for (const asked of [{ width }, { width, height, fit: 'cover' as const }, { height }]) {
      const made = await drawn(source, asked);
      t.same(made.size, [width, height], 'the size of the upright image');
      t.ok(allNear(corners(made, 5), colours));
    }
    t.same((await drawn(source)).size, turned ? [80, 160] : [160, 80], 'also without a resize');
  });
}

t.test('a kept orientation tag is reset', async (t) => {
  const stored = quarters(160, 80).withMetadata({ orientation: 6 });
  const source = await stored.jpeg().toBuffer();
  const made = await drawn(source, { formats: ['jpeg'], stripMetadata: false });
  const { orientation, exif, width, height } = await made.header();
  t.same([orientation, width, height], [1, 80, 160]);
  t.ok(exif, 'the other tags are kept');
});
