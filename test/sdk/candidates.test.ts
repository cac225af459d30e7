import fc from 'fast-check';
import t from 'tap';
import { makePlan } from '../../pool/rendering/plan.ts';
import { createImageUrls, type SrcsetOptions } from '../../sdk/src/index.ts';
import { readAddress, readOptions } from '../../server/image/address.ts';
import { negotiation } from '../../server/image/negotiate.ts';
import { resolveVariant } from '../../server/image/resolve-variant.ts';
import { propertyRuns } from '../extended.ts';
import { sourceFacts } from '../pool/rendering/pictures.ts';
import { project } from '../project.ts';

const baseUrl = 'https://images.example.com';
const src = 'https://shop.example.com/a.jpg';
const browser = negotiation()((name) => (name === 'accept' ? 'image/avif,image/webp' : ''));

interface Case {
  readonly width: number;
  readonly height: number;
  readonly defaultDpr: number;
  readonly maxWidth: number | null;
  readonly options: SrcsetOptions;
}

/** Returns a URL's options, and the size that the service plans for it. */
function planned(url: string, { width, height, defaultDpr, maxWidth }: Case) {
  const owner = project({ defaultDpr, maxWidth, defaultFit: 'inside' });
  const { pathname, search } = new URL(url);
  const read = readOptions(readAddress(pathname, search.slice(1)).parameters);
  const variant = resolveVariant(read, browser.hints, browser.accepted, owner);
  const plan = makePlan(sourceFacts(width, height), null, variant, 1e12);
  const inPixels = (side: typeof read.w) => (typeof side === 'number' ? side : undefined);
  return { w: inPixels(read.w) ?? 0, h: inPixels(read.h), width: plan.width, height: plan.height };
}

const side = fc.oneof(fc.integer({ min: 10, max: 12_000 }), fc.integer({ min: 10, max: 600 }));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const anyCase: fc.Arbitrary<Case> = fc.record({
  width: side,
  height: side,
  defaultDpr: fc.integer({ min: 1, max: 3 }),
  maxWidth: fc.option(fc.integer({ min: 1, max: 5_000 })),
  options: fc.record({
    ratio: optional(fc.double({ min: 0.1, max: 10, noNaN: true })),
    fixed: optional(fc.integer({ min: 1, max: 4_000 })),
    widths: optional(fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 8 })),
    fmt: optional(fc.constantFrom('auto', 'avif', 'webp', 'jpeg', 'png', 'gif')),
    fit: optional(fc.constantFrom('cover', 'contain', 'fill')),
    lossless: optional(fc.boolean()),
    enlarge: optional(fc.constantFrom(false, true, 'box' as const)),
  }),
});

t.test('offers candidates with the stated pixels, up to the largest possible', async (t) => {
  const property = fc.property(anyCase, (given) => {
    // The service enlarges an image to at most 100,000 pixels a side before it crops.
    fc.pre(given.options.enlarge !== true || Math.abs(Math.log(given.width / given.height)) < 1.6);
    const { fixed, ratio, widths } = given.options;
    const urls = createImageUrls({ baseUrl, project: project()._id, maxWidth: given.maxWidth });
    const size = { sourceWidth: given.width, sourceHeight: given.height };
    const candidates = urls.srcset(src, { ...size, ...given.options }).split(', ');
    for (const candidate of candidates) {
      const [url = '', descriptor] = candidate.split(' ');
      const { w, h, width, height } = planned(url, given);
      const stated = fixed === undefined ? descriptor : `${w}w`;
      const isExact =
        stated === `${width}w` && (h === undefined ? ratio === undefined : h === height);
      if (!isExact) throw new Error(`${candidate} has ${width} x ${height}`);
    }
    const [last = ''] = candidates.at(-1)?.split(' ') ?? [];
    const wanted = fixed === undefined ? Math.max(...(widths ?? [3_840])) : 3 * fixed;
    const { w } = planned(last, given);
    // Wider candidates of a kept box would only add background.
    if (w >= wanted || w === 10_000 || given.options.enlarge === 'box') return;
    // A few more pixels of width can round to the same height.
    const more = w + 2 + Math.ceil(ratio ?? given.width / given.height);
    const wider = { ...urls.parse(last)?.options, w: more };
    const h = ratio === undefined ? undefined : Math.round(more / ratio);
    if ((h ?? 0) > 10_000) return;
    const { width, height } = planned(urls.url(src, { ...wider, h }), given);
    if (width === more && height === (h ?? height)) throw new Error(`${w} is not the last one`);
  });
  t.doesNotThrow(() => fc.assert(property, { seed: 27, numRuns: propertyRuns(10_000) }));
});

t.test('returns the default widths, and densities of a fixed width', async (t) => {
  const urls = createImageUrls({ baseUrl, project: 'p' });
  const descriptors = (options?: SrcsetOptions) =>
    urls
      .srcset(src, options)
      .split(', ')
      .map((candidate) => candidate.split(' ')[1]);
  t.same(descriptors(), [
    '320w',
    '480w',
    '640w',
    '828w',
    '1080w',
    '1440w',
    '1920w',
    '2560w',
    '3840w',
  ]);
  t.same(descriptors({ sourceWidth: 1_000 }), ['320w', '480w', '640w', '828w', '1000w']);
  t.same(descriptors({ sourceWidth: 200 }), ['200w']);
  t.same(descriptors({ fixed: 100 }), ['1x', '2x', '3x']);
  t.same(descriptors({ fixed: 100, sourceWidth: 150 }), ['1x', '1.5x']);
  t.same(descriptors({ fixed: 100, sourceWidth: 80 }), ['0.8x']);
  t.same(descriptors({ widths: [800, 400, 400] }), ['400w', '800w']);
});

t.test('offers a source per format in a picture, and a size for the layout', async (t) => {
  const urls = createImageUrls({ baseUrl, project: 'p' });
  const options = { ratio: 16 / 9, sourceWidth: 1_600, sourceHeight: 1_600 };
  const { sources, img } = urls.picture(src, { ...options, sizes: '50vw', q: 70 });
  t.same(
    sources.map(({ type, sizes }) => [type, sizes]),
    [
      ['image/avif', '50vw'],
      ['image/webp', '50vw'],
    ],
  );
  t.equal(sources[0]?.srcset, urls.srcset(src, { ...options, q: 70, fmt: 'avif' }));
  t.equal(img.srcset, urls.srcset(src, { ...options, q: 70, fmt: 'auto' }));
  t.match(img, { sizes: '50vw', width: 1_600, height: 900 });
  t.same(urls.parse(img.src)?.options, {
    w: 828,
    h: 466,
    dpr: 1,
    q: 70,
    fit: 'cover',
    fmt: 'auto',
  });
  t.match(urls.picture(src, { fixed: 100, ratio: 2 }).img, { width: 100, height: 50 });
  t.match(urls.picture(src, { fixed: 100, sourceWidth: 50, sourceHeight: 10 }).img, {
    width: 100,
    height: 20,
  });
  t.equal(urls.picture(src).img.width, undefined);
  const chosen = urls.picture(src, { formats: ['jxl', 'webp'] }).sources;
  t.same(
    chosen.map(({ type, srcset }) => [type, srcset]),
    (['jxl', 'webp'] as const).map((fmt) => [`image/${fmt}`, urls.srcset(src, { fmt })]),
    'formats in the order of the caller',
  );
});
