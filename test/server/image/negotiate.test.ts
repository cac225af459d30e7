import fc from 'fast-check';
import t from 'tap';
import { negotiate, readAccept, snapWidth } from '../../../server/image/negotiate.ts';

type RequestHeaders = Readonly<Record<string, string>>;

const negotiated = (headers: RequestHeaders) => negotiate((name) => headers[name] ?? '');
const hintsOf = (headers: RequestHeaders) => negotiated(headers).hints;
const acceptedFormats = (accept: string) => readAccept(accept).formats;

const noHints = { dpr: null, width: null, viewport: null };

t.test('Accept: named types count, the highest weight first', async (t) => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    '': [],
    '*/*': [],
    'image/*': [],
    'image/*,*/*;q=0.8': [],
    'text/html': [],
    'image/avif,image/webp,image/apng,*/*;q=0.8': ['avif', 'webp'],
    'image/webp,image/avif': ['avif', 'webp'],
    'image/webp,*/*': ['webp'],
    'IMAGE/WebP': ['webp'],
    'image/avif;q=0.5,image/webp': ['webp', 'avif'],
    'image/avif;q=0.5, image/webp;q=0.8': ['webp', 'avif'],
    'image/avif;q=0.8 , image/webp;q=0.8': ['avif', 'webp'],
    'image/webp ; q=0.7': ['webp'],
    'image/webp;Q=0.7': ['webp'],
    'image/webp;v=b3;q=0.7': ['webp'],
    'image/webp;q=0.001': ['webp'],
    'image/webp;q=1.000': ['webp'],
    // Malformed ranges are ignored.
    ',,;;,image/,/webp,webp,image/webpx,ximage/webp,;q=1': [],
    ',; ,image/webp,': ['webp'],
    'text/x; a="image/avif", image/webp': ['webp'],
    // Weight 0 refuses a type regardless of wildcards.
    'image/avif;q=0,image/*': [],
  };
  for (const [accept, formats] of Object.entries(cases)) {
    t.same(acceptedFormats(accept), formats, accept);
  }
  const zeros = ['q=0', 'q=0.', 'q=0.0', 'q=0.000'];
  const malformed = [
    'q=',
    'q',
    'q=x',
    'q=-1',
    'q=2',
    'q=1.5',
    'q=0.1234',
    'q=.5',
    'q=1e0',
    'q=NaN',
  ];
  for (const weight of [...zeros, ...malformed, 'q =0', 'q = 1', 'q="1"', 'q=1 1', 'q=+1']) {
    t.same(acceptedFormats(`image/avif;${weight},image/webp,*/*`), ['webp'], weight);
  }
});

t.test('only the beginning of a very long Accept header is read', async (t) => {
  const read = (accept: string) => negotiated({ accept }).accepted.formats;
  const filler = 'a/b,'.repeat(254);
  t.same(read(`${filler}image/webp,a`), []);
  t.same(read(`image/webp,${filler}a/b,image/avif`), ['webp']);
  t.same(read(`${filler.slice(24)}image/webp;q=0.5,a/b,c/d`), ['webp'], 'up to its last comma');
  t.same(read('image/webp'.padEnd(2_000)), []);
});

t.test('only the weight 0 of WebP itself refuses WebP', async (t) => {
  t.same(readAccept('image/webp;q=0,*/*').refused, ['webp']);
  for (const accept of ['', '*/*;q=0', 'image/webp;q=0.1', 'image/avif;q=0']) {
    t.same(readAccept(accept).refused, [], accept);
  }
});

t.test('any Accept header yields each negotiable format at most once', async () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('image/avif', 'image/webp', 'image/*', ',', ';', 'q=', '0', '1', '.', ' ', '"'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const formats = acceptedFormats(pieces.join(''));
      return (
        new Set(formats).size === formats.length &&
        formats.every((format) => format === 'avif' || format === 'webp')
      );
    }),
    { numRuns: 2_000 },
  );
});

t.test('client hints: Sec-CH- names take precedence, ratios snap up within 1 to 3', async (t) => {
  const cases: ReadonlyArray<readonly [RequestHeaders, object]> = [
    [{}, {}],
    [{ dpr: '2' }, { dpr: 2 }],
    [{ 'sec-ch-dpr': '3', dpr: '2' }, { dpr: 3 }],
    [{ width: '320' }, { width: 320 }],
    [{ 'sec-ch-width': '640', width: '320' }, { width: 640 }],
    [{ 'viewport-width': '411' }, { viewport: 411 }],
    [{ 'sec-ch-viewport-width': '390', 'viewport-width': '411' }, { viewport: 390 }],
    [{ dpr: '0.5' }, { dpr: 1 }],
    [{ dpr: '1.0' }, { dpr: 1 }],
    [{ dpr: '1.25' }, { dpr: 1.5 }],
    [{ dpr: '1.5' }, { dpr: 1.5 }],
    [{ dpr: '2.625' }, { dpr: 3 }],
    [{ dpr: '4' }, { dpr: 3 }],
  ];
  for (const [headers, hints] of cases) t.same(hintsOf(headers), { ...noHints, ...hints });
  const invalid = [
    '0',
    '0.0',
    '-1',
    '+1',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    ' ',
    '1,2',
    '1;a',
    '1.',
  ];
  for (const text of [...invalid, '9'.repeat(400), '"2"', '2x', '?1']) {
    const headers = { 'sec-ch-dpr': text, 'sec-ch-width': text, 'sec-ch-viewport-width': text };
    t.same(hintsOf(headers), noHints, text.slice(0, 20));
    t.same(hintsOf({ dpr: text, width: text, 'viewport-width': text }), noHints);
  }
});

t.test('widths snap up to few steps', async (t) => {
  const snapped = new Set<number>();
  for (let width = 1; width <= 10_000; width++) {
    const step = snapWidth(width);
    if (step < width) t.fail(`${width} snaps down to ${step}`);
    if (width > 64 && step > width * 1.5) t.fail(`${width} snaps up as far as ${step}`);
    if (snapWidth(step) !== step) t.fail(`${step} is not a step itself`);
    snapped.add(step);
  }
  t.ok(snapped.size < 40, `${snapped.size} steps`);
  t.same([snapWidth(10_001), snapWidth(999_999)], [10_000, 10_000]);
});

t.test('any hint yields a value within its range or null', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double().map(String),
    fc.nat().map(String),
  );
  fc.assert(
    fc.property(text, text, text, (dpr, width, viewport) => {
      const hints = hintsOf({ dpr, width, 'viewport-width': viewport });
      return (
        (hints.dpr === null || (hints.dpr >= 1 && hints.dpr <= 3)) &&
        (hints.width === null || (hints.width >= 1 && hints.width <= 10_000)) &&
        (hints.viewport === null || hints.viewport > 0)
      );
    }),
    { numRuns: 1_000 },
  );
});

t.test('headers have the same form exactly when they have the same result', async (t) => {
  const all: readonly RequestHeaders[] = [
    {},
    { accept: '*/*' },
    { accept: 'image/avif,image/webp,image/apng,image/*,*/*;q=0.8' },
    { accept: 'text/html,image/avif,image/webp,*/*;q=0.8' },
    { accept: 'image/webp,image/avif;q=0.9' },
    { accept: 'image/webp,*/*' },
    { accept: 'image/webp;q=0' },
    { accept: `image/webp,${'x/y,'.repeat(1_000)}*/*` },
    { dpr: '1.1' },
    { 'sec-ch-dpr': '1.4' },
    { 'sec-ch-dpr': '2' },
    { width: '2' },
    { 'sec-ch-width': '701' },
    { width: '749', dpr: 'x' },
    { 'viewport-width': '2' },
    { 'viewport-width': '2', accept: 'image/webp' },
    { dpr: 'x' },
  ];
  // Twice, because the second results come from the cache.
  const forms = new Map<string, string>();
  for (const headers of [...all, ...all]) {
    const { accepted, hints, form } = negotiated(headers);
    t.same(accepted, readAccept(headers['accept'] ?? ''));
    const result = JSON.stringify({ accepted, hints });
    t.equal(forms.get(result) ?? form, form, JSON.stringify(headers).slice(0, 80));
    forms.set(result, form);
  }
  t.equal(new Set(forms.values()).size, forms.size);
  t.ok(forms.size < all.length - 4);
});
