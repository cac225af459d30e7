import t from 'tap';
import { plainVariant, type Variant } from '../../../pool/variant.ts';
import type { Options } from '../../../server/image/address.ts';
import type { Hints } from '../../../server/image/negotiate.ts';
import { provisionalVariant, resolveVariant } from '../../../server/image/resolve-variant.ts';
import { project } from '../../project.ts';

const noHints: Hints = { dpr: null, width: null, viewport: null };

interface Request {
  readonly options?: Options;
  readonly hints?: Partial<Hints>;
  readonly accepted?: Variant['formats'];
  readonly settings?: Parameters<typeof project>[0];
}

function variant({ options = {}, hints, accepted = [], settings }: Request): Variant {
  return resolveVariant(options, { ...noHints, ...hints }, accepted, project(settings));
}

t.test("returns the project's defaults if there are no options", async (t) => {
  t.same(variant({ settings: { autoFormat: false, defaultQuality: 71, maxWidth: 900 } }), {
    ...plainVariant,
    fit: 'cover',
    maxWidth: 900,
    quality: 71,
  });
});

t.test('keeps a backdrop only behind an image with padding', async (t) => {
  const bg = { blur: 9 };
  const extend = { top: 0, right: 3, bottom: 0, left: 0 };
  for (const options of [{ fit: 'contain' }, { extend }] as const) {
    t.same(variant({ options: { w: 9, bg, ...options } }).backdrop, bg);
  }
  for (const options of [{}, { h: 9 }, { extend: { ...extend, right: 0 } }]) {
    t.same(variant({ options: { bg, ...options } }), variant({ options }), 'else as without it');
  }
});

t.test('resolves the provisional image of auto like a client with fewer formats', async (t) => {
  const auto = variant({ accepted: ['avif', 'jxl', 'webp'] });
  t.same(provisionalVariant(auto, 'webp'), variant({ accepted: ['webp'] }));
  t.same(provisionalVariant(auto, 'jxl'), variant({ accepted: ['jxl', 'webp'] }));
  t.equal(provisionalVariant(auto, null), null, 'without the setting');
  t.equal(provisionalVariant(auto, 'avif'), null, 'the best format itself');
  for (const [accepted, options] of [
    [['avif'], {}],
    [['webp'], {}],
    [[], {}],
    [['webp', 'avif'], {}],
    [['avif', 'webp'], { fmt: 'avif' }],
    [['avif', 'webp'], { fmt: 'json' }],
    [['avif', 'webp'], { fmt: 'lqip' }],
  ] as const) {
    const { fmt = 'auto' } = options as { fmt?: string };
    t.equal(provisionalVariant(variant({ accepted, options }), 'webp'), null, `${accepted} ${fmt}`);
  }
});

t.test('prefers the query to hints, and hints to the project', async (t) => {
  const settings = { defaultDpr: 3, defaultQuality: 40, defaultFit: 'inside' as const };
  const widths: readonly (readonly [Request, number | null])[] = [
    [{ options: { w: 100 }, settings }, 300],
    [{ options: { w: 100 }, hints: { dpr: 2 }, settings }, 300],
    [{ options: { w: 100, dpr: 1 }, hints: { dpr: 2 }, settings }, 100],
    [{ options: { w: 100, dpr: 'auto' }, hints: { dpr: 2 }, settings }, 200],
    [{ options: { w: 100, dpr: 'auto' }, settings }, 300],
    [{ hints: { width: 640 }, settings }, 640],
    [{ hints: { width: 640, dpr: 2 }, options: { dpr: 3 }, settings }, 640],
    [{ hints: { width: 640 }, options: { w: 10 }, settings }, 30],
    [{ hints: { width: 640 }, options: { h: 10 }, settings }, null],
  ];
  for (const [request, width] of widths) t.equal(variant(request).width, width);
  t.match(variant({ settings }), { quality: 40, fit: 'inside' });
  t.match(variant({ options: { q: 1, fit: 'fill' }, settings }), { quality: 1, fit: 'fill' });
});

t.test('multiplies percentages of the source by the pixel ratio', async (t) => {
  const half = { share: 0.5 };
  const found = variant({ options: { w: half, h: 20, dpr: 1.5 }, hints: { width: 640 } });
  t.match(found, { width: null, widthShare: 0.75, height: 30, heightShare: null });
  t.match(variant({ options: { h: half, ar: 2 } }), { heightShare: 0.5, aspectRatio: 2 });
});

t.test('rounds lengths to device pixels, at least 1', async (t) => {
  t.match(variant({ options: { w: 33, h: 21, dpr: 1.5 } }), { width: 50, height: 32 });
  t.match(variant({ options: { w: 1, h: 1, dpr: 1 } }), { width: 1, height: 1 });
});

t.test('computes the missing side from a ratio, in device pixels', async (t) => {
  const boxes: readonly (readonly [Request, number | null, number | null, number | null])[] = [
    [{ options: { w: 400, ar: 16 / 9 } }, 400, 225, null],
    [{ options: { h: 225, ar: 16 / 9 } }, 400, 225, null],
    [{ options: { w: 333, ar: 16 / 9, dpr: 2 } }, 666, 375, null],
    [{ options: { w: 10_000, ar: 0.01, dpr: 3 } }, 30_000, 3_000_000, null],
    [{ options: { w: 1, ar: 100 } }, 1, 1, null],
    [{ options: { w: 400, h: 100, ar: 1 } }, 400, 100, null],
    [{ options: { ar: 2 }, settings: { defaultDpr: 3 } }, null, null, 2],
    [{ options: { ar: 2 }, hints: { width: 640 } }, 640, 320, null],
    [{ options: { ar: 2 }, hints: { viewport: 400 } }, null, null, 2],
  ];
  for (const [request, width, height, aspectRatio] of boxes) {
    t.match(variant(request), { width, height, aspectRatio }, JSON.stringify(request));
  }
  t.match(variant({ options: { ar: 2 }, hints: { viewport: 400 } }), { maxWidth: 480 });
});

t.test('returns the pixels per CSS pixel of a box or a viewport', async (t) => {
  const settings = { defaultDpr: 3 };
  const ratios: readonly (readonly [Request, number])[] = [
    [{ options: { w: 100 } }, 1],
    [{ options: { w: 100 }, settings }, 3],
    [{ options: { h: 100, dpr: 2 }, settings }, 2],
    [{ options: { w: 100, dpr: 'auto' }, hints: { dpr: 2 }, settings }, 2],
    [{ options: { w: 100, dpr: 'auto' }, settings }, 3],
    [{ options: { w: 100 }, hints: { dpr: 2 } }, 1],
    [{ hints: { width: 640, dpr: 2 }, settings }, 2],
    [{ hints: { width: 640 }, settings }, 3],
    [{ hints: { width: 640, dpr: 2 }, options: { dpr: 1.5 } }, 1.5],
    [{ hints: { viewport: 500, dpr: 2 } }, 2],
    [{ hints: { viewport: 500, dpr: 2 }, settings: { maxWidth: 810 } }, 1.5],
    [{ hints: { viewport: 500, dpr: 2 }, settings: { maxWidth: 300 } }, 1],
    // Neither option changes the size.
    [{ options: { dpr: 2 }, settings }, 1],
    [{ hints: { dpr: 2 }, settings }, 1],
  ];
  for (const [request, ratio] of ratios) {
    t.equal(variant(request).pixelRatio, ratio, JSON.stringify(request));
  }
});

t.test('limits the width to the viewport if no other value determines it', async (t) => {
  const bounds: readonly (readonly [Request, number | null])[] = [
    [{ hints: { viewport: 400 } }, 480],
    [{ hints: { viewport: 400, dpr: 2 } }, 828],
    [{ hints: { viewport: 400 }, options: { dpr: 3 } }, 1280],
    [{ hints: { viewport: 400, dpr: 2 }, options: { dpr: 'auto' } }, 828],
    [{ hints: { viewport: 400 }, settings: { maxWidth: 300 } }, 300],
    [{ hints: { viewport: 400 }, settings: { maxWidth: 3_000 } }, 480],
    [{ hints: { viewport: 400, width: 320 } }, null],
    [{ hints: { viewport: 400 }, options: { w: 50 } }, null],
    [{ hints: { viewport: 400 }, options: { h: 50 }, settings: { maxWidth: 77 } }, 77],
  ];
  for (const [request, bound] of bounds) t.equal(variant(request).maxWidth, bound);
});

t.test('prefers fmt, and otherwise reads Accept if the project says so', async (t) => {
  const accepted = ['avif', 'webp'] as const;
  const formats: readonly (readonly [Request, Variant['formats'], boolean])[] = [
    [{ options: { fmt: 'png' }, accepted }, ['png'], false],
    [{ accepted }, ['avif', 'webp'], true],
    [{ accepted, settings: { autoFormat: false } }, [], false],
    [{ options: { fmt: 'auto' }, accepted, settings: { autoFormat: false } }, accepted, true],
  ];
  for (const [request, wanted, negotiated] of formats) {
    t.match(variant(request), { formats: wanted, negotiated });
  }
});
