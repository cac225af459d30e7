import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, rendered } from './drawn.ts';
import { gradient } from './pictures.ts';

// Each pixel's colour is [2 * x, 2 * y, 0].
const source = await gradient(120, 60);
const share = (left: number, top: number, width: number, height: number) =>
  ({ left, top, width, height, unit: 'share' }) as const;
const pixels = (left: number, top: number, width: number, height: number) => ({
  left,
  top,
  width,
  height,
});

t.test('takes areas in shares of the upright source', async (t) => {
  const cases: readonly (readonly [Partial<Variant>, Partial<Variant>])[] = [
    [{ crop: share(0.25, 0.5, 0.5, 0.25) }, { crop: pixels(30, 30, 60, 15) }],
    [{ crop: share(1 / 3, 0, 1 / 3, 1) }, { crop: pixels(40, 0, 40, 60) }],
    // A share of less than a pixel is a pixel.
    [{ crop: share(0.5, 0.5, 0.0001, 0.0001) }, { crop: pixels(60, 30, 1, 1) }],
    [
      { crop: share(0.5, 0, 0.5, 1), widthShare: 0.25 },
      { crop: pixels(60, 0, 60, 60), width: 30 },
    ],
    [
      {
        blurarea: [share(0.1, 0.2, 0.3, 0.4), pixels(80, 10, 20, 20)],
        pixelatearea: [share(0, 0, 0.1, 0.1)],
      },
      {
        blurarea: [pixels(12, 12, 36, 24), pixels(80, 10, 20, 20)],
        pixelatearea: [pixels(0, 0, 12, 6)],
      },
    ],
  ];
  for (const [shares, inPixels] of cases) {
    const [found, expected] = [await rendered(source, shares), await rendered(source, inPixels)];
    t.equal(found.etag, expected.etag, JSON.stringify(shares));
  }
  const clipped = await rendered(source, { crop: share(0.5, 0.5, 0.75, 0.5) });
  t.same([clipped.width, clipped.height, clipped.warnings], [60, 30, ['crop_clipped']]);
  await t.rejects(rendered(source, { crop: share(1, 0, 0.5, 0.5) }), {
    message: 'crop is outside the source, which is 120 x 60.',
  });
});

t.test('takes sides in shares of the upright source', async (t) => {
  const cases: readonly (readonly [Partial<Variant>, readonly [number, number]])[] = [
    [{ widthShare: 0.5 }, [60, 30]],
    [{ heightShare: 0.1 }, [12, 6]],
    [{ widthShare: 0.5, heightShare: 0.25, fit: 'fill' }, [60, 15]],
    [{ widthShare: 0.5, height: 20 }, [60, 20]],
    [{ widthShare: 0.25, aspectRatio: 1 }, [30, 30]],
    [{ widthShare: 0.25, aspectRatio: 1, fit: 'inside' }, [30, 15]],
    // Never larger than the source, unless it is enlarged.
    [{ widthShare: 2 }, [120, 60]],
    [{ widthShare: 2, enlarge: true }, [240, 120]],
    [{ widthShare: 0.5, maxWidth: 40 }, [40, 20]],
    [{ widthShare: 0.001 }, [1, 1]],
  ];
  for (const [options, size] of cases) {
    const { width, height } = await rendered(source, options);
    t.same([width, height], size, JSON.stringify(options));
  }
  const turned = await sharp(source).withMetadata({ orientation: 6 }).png().toBuffer();
  const upright = await drawn(turned, { widthShare: 0.5, crop: share(0, 0, 1, 0.5) });
  t.same(upright.size, [30, 30], 'an EXIF orientation');
  const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"/>');
  const vector = await rendered(drawing, { widthShare: 1.5 });
  t.same([vector.width, vector.height], [120, 60], 'a drawing');
  const svg = await rendered(drawing, { heightShare: 0.5, formats: ['svg'] });
  t.match(Buffer.from(svg.body).toString(), /width="40" height="20"/, 'a drawing as SVG');
});
