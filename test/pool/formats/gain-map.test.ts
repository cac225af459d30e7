// Own process: other files' transform threads block the gain map decoder for the whole
// process.
import sharp from 'sharp';
import t from 'tap';
import { mayHaveGainMap } from '../../../pool/formats/jpeg/format.ts';
import type { Variant } from '../../../pool/variant.ts';
import { openPool, patient } from '../execution/pools.ts';
import { drawn, rendered } from '../rendering/drawn.ts';
import { blue, green, near, noise, quarters, red, shared, variant } from '../rendering/pictures.ts';
import { ultraHdr } from '../rendering/ultra-hdr.ts';

const keep = { gainMap: true, formats: ['jpeg'] } as const satisfies Partial<Variant>;
const base = await quarters(320, 240).png().toBuffer();
const source = await ultraHdr(base);

/** Returns the mean difference in lightness between the gain map and the image. */
async function misalignment(body: Uint8Array): Promise<number> {
  const { gainMap } = await sharp(body).metadata();
  if (gainMap === undefined) return Number.NaN;
  const map = sharp(gainMap.image).grayscale().raw();
  const { data, info } = await map.toBuffer({ resolveWithObject: true });
  const resized = sharp(body).grayscale().resize(info.width, info.height, { fit: 'fill' });
  const image = await resized.raw().toBuffer();
  return data.reduce((sum, value, at) => sum + Math.abs(value - (image[at] ?? 0)), 0) / data.length;
}

t.test('transforms the gain map like the image', async (t) => {
  t.ok((await misalignment(source)) < 6, 'the gain map of the source');
  const changes: Readonly<Record<string, Partial<Variant>>> = {
    nothing: {},
    scaled: { width: 160 },
    'of an odd size': { width: 101, height: 77 },
    cropped: { crop: { left: 80, top: 120, width: 160, height: 80 } },
    'cropped and scaled': { crop: { left: 41, top: 33, width: 200, height: 155 }, width: 120 },
    covering: { width: 120, height: 200, position: 'west' },
    turned: { rotate: 90, width: 120 },
    'turned round and mirrored': { rotate: 180, flop: true },
    mirrored: { flop: true },
    'around a point': { width: 120, height: 200, position: { x: 0.2, y: 0.8 } },
    'around a point of a wide image': { width: 200, height: 60, position: { x: 0.2, y: 0.8 } },
  };
  for (const orientation of [1, 2, 3, 4, 6, 8]) {
    const stored = orientation === 1 ? source : await ultraHdr(base, orientation);
    for (const [name, change] of Object.entries(changes)) {
      if (change.rotate !== undefined && orientation !== 1) continue;
      const output = await drawn(stored, { ...keep, ...change });
      const off = await misalignment(output.body);
      t.ok(off < 12, `${name}, orientation ${orientation}: ${off}`);
      const header = await output.header();
      t.notOk(Buffer.from(header.exif ?? '').includes('me\0'), 'no metadata');
      const plain = await drawn(stored, { ...change, formats: ['jpeg'] });
      t.same(output.size, plain.size, name);
    }
  }
});

t.test('converts the colours of Display P3 next to a gain map', async (t) => {
  const wide = await ultraHdr(base, 1, 4, 'p3');
  const { body, at } = await drawn(wide, { ...keep, width: 160 });
  t.ok((await misalignment(body)) < 12);
  for (const [x, y, colour] of [
    [20, 20, red],
    [140, 20, green],
    [20, 100, blue],
  ] as const) {
    t.ok(near(at(x, y), colour, 12), `${at(x, y)}`);
  }
});

t.test('prefers a gain map to the negotiated format', async (t) => {
  const auto = { gainMap: true, negotiated: true, formats: ['avif', 'webp'] } as const;
  t.equal((await drawn(source, { ...auto, width: 100 })).contentType, 'image/jpeg');
  const plain = await noise(80, 60).jpeg().toBuffer();
  t.equal((await drawn(plain, { ...auto, width: 50 })).contentType, 'image/avif');
  const { body } = await rendered(source, { ...auto, placeholder: 'lqip', blur: 2 });
  t.match(Buffer.from(body).toString(), 'data:');
});

t.test('rejects parameters that would remove or misalign the gain map', async (t) => {
  const [five, turned, seven] = [
    await ultraHdr(base, 5),
    await ultraHdr(base, 6),
    await ultraHdr(base, 7),
  ];
  const uneven = await ultraHdr(base, 1, 3.5);
  const crop = { left: 8, top: 8, width: 100, height: 100 };
  const refused: readonly (readonly [Partial<Variant>, RegExp, Buffer?])[] = [
    [{ formats: ['webp'] }, /JPEG, not in webp/],
    [{ blur: 3 }, /blur/],
    [{ trim: 10 }, /trim/],
    [{ tint: '#ff0000ff' }, /tint/],
    [{ rotate: 10 }, /rotate/],
    [{ width: 50, height: 50, position: 'entropy' }, /pos=entropy/],
    [{ crop, rotate: 90 }, /several passes/],
    [{ flip: true }, /flipped/],
    [{ flip: true }, /flipped/, turned],
    [{}, /mirrored/, five],
    [{ width: 120, height: 200, position: { x: 0.2, y: 0.8 } }, /mirrored/, seven],
    [{ rotate: 90 }, /rotated/, turned],
    [{ crop }, /a gain map of 92 x 69 cannot .* 320 x 240 pixels/, uneven],
    [{ rotate: 90 }, /turned or cropped/, uneven],
    [{ width: 50, height: 80 }, /turned or cropped/, uneven],
    [{ width: 50, height: 80, position: { x: 0, y: 1 } }, /turned or cropped/, uneven],
    [{ width: 5 }, /too small/],
  ];
  for (const [options, message, from = source] of refused) {
    const failed = { code: 'parameter_invalid', message };
    await t.rejects(drawn(from, { ...keep, ...options }), failed, String(message));
  }
  t.ok(mayHaveGainMap((await drawn(uneven, { ...keep, width: 160 })).body), 'it can be scaled');
});

t.test('decodes gain maps in a process, on request', async (t) => {
  const pool = openPool(t);
  const get = (options: Partial<Variant>) =>
    pool.transform(shared(source), variant({ formats: ['jpeg'], width: 100, ...options }), patient);
  // The pool's threads block the decoder in this process, so the test looks at the bytes.
  t.ok(mayHaveGainMap((await get({ gainMap: true })).body));
  t.notOk(mayHaveGainMap((await get({})).body));
  await t.rejects(get({ gainMap: true, blur: 1 }), { code: 'parameter_invalid' });
});
