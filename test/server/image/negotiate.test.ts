import fc from 'fast-check';
import t from 'tap';
import { negotiation, readAccept, roundUpWidth } from '../../../server/image/negotiate.ts';
import { propertyRuns } from '../../extended.ts';

type RequestHeaders = Readonly<Record<string, string>>;

const negotiate = negotiation();
const negotiated = (headers: RequestHeaders) => negotiate((name) => headers[name] ?? '');
const readHints = (headers: RequestHeaders) => negotiated(headers).hints;
const acceptedFormats = (accept: string) => readAccept(accept);

const noHints = { dpr: null, width: null, viewport: null };

t.test('selects the formats in Accept, the highest weight first', async (t) => {
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
    // Ignore malformed ranges.
    ',,;;,image/,/webp,webp,image/webpx,ximage/webp,;q=1': [],
    ',; ,image/webp,': ['webp'],
    'text/x; a="image/avif", image/webp': ['webp'],
    // Weight 0 refuses a type regardless of wildcards.
    'image/avif;q=0,image/*': [],
  };
  for (const [accept, formats] of Object.entries(cases)) {
    t.same(acceptedFormats(accept), formats, accept);
  }
  const malformed = 'q=|q|q=x|q=-1|q=2|q=1.5|q=0.1234|q=.5|q=1e0|q=NaN|q = 1|q="1"|q=1 1|q=+1';
  for (const weight of [...malformed.split('|'), 'q=0', 'q=0.', 'q=0.0', 'q=0.000', 'q =0']) {
    t.same(acceptedFormats(`image/avif;${weight},image/webp,*/*`), ['webp'], weight);
  }
});

t.test('chooses from the given formats, and by their order among equal weights', async (t) => {
  const chrome = 'image/avif,image/webp,image/jxl,image/apng,image/svg+xml,image/*,*/*;q=0.8';
  const order = ['jxl', 'avif', 'webp'] as const;
  t.same(acceptedFormats(chrome), ['avif', 'webp'], 'by default');
  t.same(readAccept(chrome, order), order);
  t.same(readAccept('image/webp,image/*,*/*;q=0.8', order), ['webp']);
  t.same(readAccept('image/jxl;q=0.5,image/webp', order), ['webp', 'jxl']);
  t.same(readAccept(chrome, ['webp', 'jxl']), ['webp', 'jxl']);
  const keys = [order, ['avif', 'webp'] as const].map(
    (formats) => negotiation(formats)((name) => (name === 'accept' ? chrome : '')).normalized,
  );
  t.not(keys[0], keys[1], 'of the response cache');
});

t.test('reads a very long Accept header only up to a limit', async (t) => {
  const read = (accept: string) => negotiated({ accept }).accepted;
  const filler = 'a/b,'.repeat(254);
  t.same(read(`${filler}image/webp,a`), []);
  t.same(read(`image/webp,${filler}a/b,image/avif`), ['webp']);
  t.same(read(`${filler.slice(24)}image/webp;q=0.5,a/b,c/d`), ['webp'], 'up to its last comma');
  t.same(read('image/webp'.padEnd(2_000)), []);
});

t.test('prefers Sec-CH- client hints, and rounds ratios up within 1 to 3', async (t) => {
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
  for (const [headers, hints] of cases) t.same(readHints(headers), { ...noHints, ...hints });
  const invalid = '0|0.0|-1|+1|1e3|0x10|NaN|Infinity| |1,2|1;a|1.|"2"|2x|?1'.split('|');
  for (const text of [...invalid, '9'.repeat(400)]) {
    const headers = { 'sec-ch-dpr': text, 'sec-ch-width': text, 'sec-ch-viewport-width': text };
    t.same(readHints(headers), noHints, text.slice(0, 20));
    t.same(readHints({ dpr: text, width: text, 'viewport-width': text }), noHints);
  }
});

t.test('rounds widths up to few steps', async (t) => {
  const steps = new Set<number>();
  for (let width = 1; width <= 10_000; width++) {
    const step = roundUpWidth(width);
    if (step < width) t.fail(`${width} is rounded down to ${step}`);
    if (width > 64 && step > width * 1.5) t.fail(`${width} is rounded up as far as ${step}`);
    steps.add(step);
  }
  t.ok(steps.size < 40, `${steps.size} steps`);
  for (const step of steps) t.equal(roundUpWidth(step), step);
  t.same([roundUpWidth(10_001), roundUpWidth(999_999)], [10_000, 10_000]);
});

t.test(
  'returns supported formats once each, and hints in their ranges, for any headers',
  async () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'image/avif',
        'image/webp',
        'image/*',
        ',',
        ';',
        'q=',
        '0',
        '1',
        '.',
        ' ',
        '"',
      ),
    );
    const accept = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
    const hint = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double().map(String),
      fc.nat().map(String),
    );
    const within = (value: number | null, least: number, most: number) =>
      value === null || (value >= least && value <= most);
    fc.assert(
      fc.property(accept, hint, hint, hint, (accept, dpr, width, viewport) => {
        const { accepted, hints } = negotiated({ accept, dpr, width, 'viewport-width': viewport });
        return (
          new Set(accepted).size === accepted.length &&
          accepted.every((format) => format === 'avif' || format === 'webp') &&
          within(hints.dpr, 1, 3) &&
          within(hints.width, 1, 10_000) &&
          within(hints.viewport, Number.MIN_VALUE, 999_999.999_999)
        );
      }),
      { numRuns: propertyRuns(2_000) },
    );
  },
);

t.test(
  'returns equal normalized texts for headers exactly if their results are equal',
  async (t) => {
    const all: readonly RequestHeaders[] = [
      {},
      { accept: '*/*' },
      { accept: 'image/avif,image/webp,image/apng,image/*,*/*;q=0.8' },
      { accept: 'text/html,image/avif,image/webp,*/*;q=0.8' },
      { accept: 'image/webp,image/avif;q=0.9' },
      { accept: 'image/webp,*/*' },
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
    const texts = new Map<string, string>();
    for (const headers of [...all, ...all]) {
      const { accepted, hints, normalized } = negotiated(headers);
      t.same(accepted, readAccept(headers['accept'] ?? ''));
      const result = JSON.stringify({ accepted, hints });
      t.equal(texts.get(result) ?? normalized, normalized, JSON.stringify(headers).slice(0, 80));
      texts.set(result, normalized);
    }
    t.equal(new Set(texts.values()).size, texts.size);
    t.ok(texts.size < all.length - 4);
  },
);
