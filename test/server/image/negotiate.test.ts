import fc from 'fast-check';
import t from 'tap';
import {
  type NegotiationHeaders,
  negotiate,
  readAccept,
  readHints,
  snapWidth,
} from '../../../server/image/negotiate.ts';

const silent: NegotiationHeaders = {
  accept: '',
  'sec-ch-dpr': '',
  dpr: '',
  'sec-ch-width': '',
  width: '',
  'sec-ch-viewport-width': '',
  'viewport-width': '',
};
const acceptedFormats = (accept: string) => readAccept(accept).formats;

const nothing = { dpr: null, width: null, viewport: null };

t.test('only named types count, the most wanted first', async (t) => {
  const readings: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['*/*', []],
    ['image/*', []],
    ['image/*,*/*;q=0.8', []],
    ['text/html', []],
    ['image/avif,image/webp,image/apng,*/*;q=0.8', ['avif', 'webp']],
    ['image/webp,image/avif', ['avif', 'webp']],
    ['image/webp,*/*', ['webp']],
    ['IMAGE/WebP', ['webp']],
    ['image/avif;q=0.5,image/webp', ['webp', 'avif']],
    ['image/avif;q=0.5, image/webp;q=0.8', ['webp', 'avif']],
    ['image/avif;q=0.8 , image/webp;q=0.8', ['avif', 'webp']],
    ['image/webp ; q=0.7', ['webp']],
    ['image/webp;Q=0.7', ['webp']],
    ['image/webp;v=b3;q=0.7', ['webp']],
    ['image/webp;q=0.001', ['webp']],
    ['image/webp;q=1.000', ['webp']],
  ];
  for (const [accept, formats] of readings) t.same(acceptedFormats(accept), formats, accept);
});

t.test('of a very long header only the beginning is read', async (t) => {
  const read = (accept: string) => negotiate({ ...silent, accept }).accepted.formats;
  const filler = 'a/b,'.repeat(254);
  t.same(read(`${filler}image/webp,a`), []);
  t.same(read(`image/webp,${filler}a/b,image/avif`), ['webp']);
  t.same(read(`${filler.slice(24)}image/webp;q=0.5,a/b,c/d`), ['webp'], 'up to its last comma');
  t.same(read('image/webp'.padEnd(2_000)), []);
});

t.test('a type with weight 0 is refused, whatever wildcards say', async (t) => {
  for (const zero of ['0', '0.', '0.0', '0.000']) {
    t.same(acceptedFormats(`image/avif;q=${zero},image/webp,*/*`), ['webp'], zero);
  }
  t.same(acceptedFormats('image/avif;q=0,image/*'), []);
});

t.test('WebP is refused by its weight alone', async (t) => {
  t.same(readAccept('image/webp;q=0,*/*').refused, ['webp']);
  for (const accept of ['', '*/*;q=0', 'image/webp;q=0.1', 'image/avif;q=0']) {
    t.same(readAccept(accept).refused, [], accept);
  }
});

t.test('a type with a malformed weight is not accepted', async (t) => {
  const weights = ['q=', 'q', 'q=x', 'q=-1', 'q=2', 'q=1.5', 'q=0.1234', 'q=.5', 'q=1e0', 'q=NaN'];
  for (const weight of [...weights, 'q =0', 'q = 1', 'q="1"', 'q=1 1', 'q=+1']) {
    t.same(acceptedFormats(`image/avif;${weight},image/webp`), ['webp'], weight);
  }
});

t.test('malformed ranges are passed over', async (t) => {
  t.same(acceptedFormats(',,;;,image/,/webp,webp,image/webpx,ximage/webp,;q=1'), []);
  t.same(acceptedFormats(',; ,image/webp,'), ['webp']);
  t.same(acceptedFormats('text/x; a="image/avif", image/webp'), ['webp']);
});

t.test('no Accept header is too strange', async () => {
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

t.test('hints are read in their units, the Sec-CH- names before the older ones', async (t) => {
  const readings: readonly (readonly [Partial<NegotiationHeaders>, object])[] = [
    [{}, nothing],
    [{ dpr: '2' }, { ...nothing, dpr: 2 }],
    [
      { 'sec-ch-dpr': '3', dpr: '2' },
      { ...nothing, dpr: 3 },
    ],
    [{ width: '320' }, { ...nothing, width: 320 }],
    [
      { 'sec-ch-width': '640', width: '320' },
      { ...nothing, width: 640 },
    ],
    [{ 'viewport-width': '411' }, { ...nothing, viewport: 411 }],
    [
      { 'sec-ch-viewport-width': '390', 'viewport-width': '411' },
      { ...nothing, viewport: 390 },
    ],
  ];
  for (const [headers, hints] of readings) t.same(readHints({ ...silent, ...headers }), hints);
});

t.test('a hinted ratio snaps up, within 1 to 3', async (t) => {
  const ratios: readonly (readonly [string, number])[] = [
    ['0.5', 1],
    ['1.0', 1],
    ['1.25', 1.5],
    ['1.5', 1.5],
    ['2.625', 3],
    ['4', 3],
  ];
  for (const [dpr, snapped] of ratios) t.equal(readHints({ ...silent, dpr }).dpr, snapped, dpr);
});

t.test('what is no positive plain number is no hint', async (t) => {
  const texts = ['0', '0.0', '-1', '+1', '1e3', '0x10', 'NaN', 'Infinity', ' ', '1,2', '1;a', '1.'];
  for (const text of [...texts, '9'.repeat(400), '"2"', '2x', '?1']) {
    const headers = Object.fromEntries(Object.keys(silent).map((name) => [name, text]));
    t.same(readHints({ ...silent, ...headers }), nothing, text.slice(0, 20));
  }
});

t.test('widths snap up to few steps that lie close together', async (t) => {
  const snapped = new Set<number>();
  for (let width = 1; width <= 10_000; width++) {
    const step = snapWidth(width);
    if (step < width) t.fail(`${width} snaps down to ${step}`);
    if (width > 64 && step > width * 1.5) t.fail(`${width} snaps up as far as ${step}`);
    if (snapWidth(step) !== step) t.fail(`${step} is no step itself`);
    snapped.add(step);
  }
  t.ok(snapped.size < 40, `${snapped.size} steps`);
  t.equal(snapWidth(10_001), 10_000);
  t.equal(snapWidth(999_999), 10_000);
});

t.test('no hint is too strange', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double().map(String),
    fc.nat().map(String),
  );
  fc.assert(
    fc.property(text, text, text, (dpr, width, viewport) => {
      const hints = readHints({ ...silent, dpr, width, 'viewport-width': viewport });
      return (
        (hints.dpr === null || (hints.dpr >= 1 && hints.dpr <= 3)) &&
        (hints.width === null || (hints.width >= 1 && hints.width <= 10_000)) &&
        (hints.viewport === null || hints.viewport > 0)
      );
    }),
    { numRuns: 1_000 },
  );
});

t.test('headers have the same form when they ask for the same, and only then', async (t) => {
  const asked: readonly Partial<NegotiationHeaders>[] = [
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
  // Twice, because the second time headers are remembered.
  const forms = new Map<string, string>();
  for (const headers of [...asked, ...asked]) {
    const all = { ...silent, ...headers };
    const { accepted, hints, form } = negotiate(all);
    t.same({ accepted, hints }, { accepted: readAccept(all.accept), hints: readHints(all) });
    const meaning = JSON.stringify({ accepted, hints });
    t.equal(forms.get(meaning) ?? form, form, JSON.stringify(headers).slice(0, 80));
    forms.set(meaning, form);
  }
  t.equal(new Set(forms.values()).size, forms.size);
  t.ok(forms.size < asked.length - 4);
});
