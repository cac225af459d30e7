import t from 'tap';
import type { Options } from '../../../server/image/address.ts';
import { fullVary, neededVary, negotiation } from '../../../server/image/negotiate.ts';
import { resolveVariant } from '../../../server/image/resolve-variant.ts';
import { project } from '../../project.ts';

/** Two values per header, which differ from each other and from no header. */
const values: Readonly<Record<string, readonly string[]>> = {
  Accept: ['image/avif', 'image/webp'],
  'Sec-CH-DPR': ['2', '3'],
  'Sec-CH-Width': ['320', '640'],
  'Sec-CH-Viewport-Width': ['500', '900'],
  DPR: ['2', '3'],
  Width: ['320', '640'],
  'Viewport-Width': ['500', '900'],
};

function choices<K extends string, V>(name: K, ...options: readonly (V | undefined)[]) {
  return options.map((value) => (value === undefined ? {} : { [name]: value }));
}

/** Every combination of the options that decide. */
const requests: readonly Options[] = choices('w', undefined, 200).flatMap((w) =>
  choices('h', undefined, 100).flatMap((h) =>
    choices<'dpr', 2 | 'auto'>('dpr', undefined, 2, 'auto').flatMap((dpr) =>
      choices('fmt', undefined, 'auto', 'webp', 'json', 'lqip').flatMap((fmt) =>
        choices('ar', undefined, 2).map((ar) => ({ ...w, ...h, ...dpr, ...fmt, ...ar })),
      ),
    ),
  ),
);

t.test('names exactly the headers that can change an image', async (t) => {
  const negotiate = negotiation();
  const names = fullVary.split(', ');
  for (const autoFormat of [true, false]) {
    for (const options of requests) {
      const resolve = (sent: Readonly<Record<string, string>>) => {
        const headers = new Map(Object.entries(sent).map(([n, v]) => [n.toLowerCase(), v]));
        const { hints, accepted } = negotiate((name) => headers.get(name) ?? '');
        return JSON.stringify(resolveVariant(options, hints, accepted, project({ autoFormat })));
      };
      const vary = neededVary(options, { autoFormat }, true).split(', ').filter(Boolean);
      const changing = names.filter((name) =>
        // A pixel ratio counts only beside a viewport's width.
        [{}, { 'Viewport-Width': '500' }].some((others) =>
          values[name]?.some((value) => resolve({ ...others, [name]: value }) !== resolve(others)),
        ),
      );
      t.same(vary, changing, `${JSON.stringify(options)}, autoFormat ${autoFormat}`);
    }
  }
});

t.test('names no client hints if the URL ignores them', async (t) => {
  t.equal(neededVary({}, { autoFormat: true }, false), 'Accept');
  t.equal(neededVary({ dpr: 'auto', fmt: 'png' }, { autoFormat: true }, false), '');
});
