import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import t from 'tap';
import { rendererVersion } from '../../../pool/rendering/version.ts';
import { plainVariant, type Variant } from '../../../pool/variant.ts';
import { canonicalForm, variantKey } from '../../../server/image/key.ts';
import type { Hints } from '../../../server/image/negotiate.ts';
import type { Options } from '../../../server/image/options.ts';
import { resolveVariant } from '../../../server/image/resolve-variant.ts';
import { project } from '../../project.ts';

const noHints: Hints = { dpr: null, width: null, viewport: null };
const source = new URL('https://e.com/a.jpg');

interface Request {
  readonly options?: Options;
  readonly hints?: Partial<Hints>;
  readonly accepted?: Variant['formats'];
  readonly refused?: Variant['refused'];
  readonly settings?: Parameters<typeof project>[0];
}

function variant({ options = {}, hints, accepted = [], refused = [], settings }: Request): Variant {
  const formats = { formats: accepted, refused };
  return resolveVariant(options, { ...noHints, ...hints }, formats, project(settings));
}

const key = (request: Request): string => variantKey('prj_1', source, variant(request));

t.test("without options the variant has the project's defaults", async (t) => {
  t.same(variant({ settings: { autoFormat: false, defaultQuality: 71, maxWidth: 900 } }), {
    ...plainVariant,
    fit: 'cover',
    maxWidth: 900,
    quality: 71,
  });
});

t.test('the query takes precedence over hints, and hints over the project', async (t) => {
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

t.test('lengths are device pixels, rounded, at least 1', async (t) => {
  t.match(variant({ options: { w: 33, h: 21, dpr: 1.5 } }), { width: 50, height: 32 });
  t.match(variant({ options: { w: 1, h: 1, dpr: 1 } }), { width: 1, height: 1 });
});

t.test('a viewport is the maximum width if nothing else determines the width', async (t) => {
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

t.test('fmt takes precedence; else the project decides whether Accept counts', async (t) => {
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

t.test('values without an effect do not change the key', async (t) => {
  const alike: readonly (readonly [string, Request, Request])[] = [
    ['fit without a box', { options: { w: 9, fit: 'fill' } }, { options: { w: 9, fit: 'inside' } }],
    ['dpr that is multiplied in', { options: { w: 100, dpr: 2 } }, { options: { w: 200, dpr: 1 } }],
    ['a default that is asked for', { options: { q: 80 } }, {}],
    [
      'a profile that is kept anyway',
      { settings: { stripMetadata: false }, options: { icc: 'keep' } },
      { settings: { stripMetadata: false } },
    ],
    [
      'metadata beside the copyright, if only that is kept',
      { settings: { stripMetadata: false }, options: { keep: 'copyright' } },
      { options: { keep: 'copyright' } },
    ],
    ['blur that is off', { options: { blur: null } }, {}],
    ['a bound from hint or project', { hints: { viewport: 480 } }, { settings: { maxWidth: 480 } }],
  ];
  for (const [what, one, other] of alike) t.equal(key(one), key(other), what);
});

t.test('everything that changes the bytes changes the key', async (t) => {
  const box = { w: 40, h: 30 };
  const requests: Request[] = [
    {},
    { options: { w: 40 } },
    { options: { h: 40 } },
    { options: { w: 40, dpr: 2 } },
    { options: box },
    { options: { ...box, fit: 'fill' } },
    { options: { ...box, fit: 'inside' } },
    { options: { q: 81 } },
    { options: { blur: 1 } },
    { options: { blur: 1.5 } },
    { options: { fmt: 'avif' } },
    { accepted: ['avif'] },
    { refused: ['webp'] },
    { settings: { autoFormat: false } },
    { accepted: ['avif', 'webp'] },
    { accepted: ['webp', 'avif'] },
    { settings: { maxWidth: 40 } },
    { settings: { stripMetadata: false } },
    { options: { keep: 'copyright' } },
    { options: { icc: 'keep' } },
    { options: { keep: 'copyright', icc: 'keep' } },
    { options: { hdr: 'keep' } },
    { settings: { defaultQuality: 50 } },
  ];
  t.equal(new Set(requests.map(key)).size, requests.length);
});

t.test('the key depends on the version of the renderer, which depends on sharp', async (t) => {
  const key = variantKey('prj_1', source, variant({}));
  t.not(key, variantKey('prj_1', source, variant({}), rendererVersion - 1));
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const decided: Record<typeof rendererVersion, string> = { 9: '0.35.5' };
  t.equal(
    decided[rendererVersion],
    dependencies.sharp,
    'another sharp may render other pixels: compare, increment the version if so, and record it here',
  );
});

t.test('the key depends on the project and the source', async (t) => {
  const same = variant({});
  const keys = [
    variantKey('prj_1', source, same),
    variantKey('prj_2', source, same),
    variantKey('prj_1', new URL('https://e.com/b.jpg'), same),
    variantKey('prj_1', new URL('http://e.com/a.jpg'), same),
    variantKey('prj_1', new URL('https://e.com/a.jpg?1'), same),
  ];
  t.equal(new Set(keys).size, keys.length);
  for (const one of keys) t.match(one, /^[0-9a-f]{64}$/);
});

t.test("the canonical form does not depend on the order of the variant's fields", async () => {
  const fields = fc.shuffledSubarray(
    Object.entries(variant({ options: { w: 9, h: 8, blur: 2 } })),
    {
      minLength: Object.keys(plainVariant).length,
    },
  );
  const expected = canonicalForm(variant({ options: { w: 9, h: 8, blur: 2 } }));
  fc.assert(
    fc.property(
      fields,
      (shuffled) => canonicalForm(Object.fromEntries(shuffled) as unknown as Variant) === expected,
    ),
  );
});
