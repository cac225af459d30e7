import t from 'tap';
import { originFreshness } from '../../../pool/source/response-headers.ts';

const none = { maxAge: null, staleWhileRevalidate: null, staleIfError: null };

t.test("returns a response's freshness", async (t) => {
  const cases: readonly (readonly [header: string | string[], freshness: object, age?: string])[] =
    [
      ['', {}],
      ['public', {}],
      ['max-age=60', { maxAge: 60 }],
      ['Max-Age="60"', { maxAge: 60 }],
      ['max-age=60, s-maxage=5', { maxAge: 5 }],
      ['max-age=60, max-age=5', { maxAge: 60 }],
      [['max-age=60', 'stale-if-error=7'], { maxAge: 60, staleIfError: 7 }],
      ['max-age=60 , stale-while-revalidate = 9', { maxAge: 60, staleWhileRevalidate: 9 }],
      ['max-age=60, no-cache', { maxAge: 0 }],
      ['no-store', { maxAge: 0 }],
      ['max-age=-1', {}],
      ['max-age=1.5', {}],
      ['max-age', {}],
      ['max-age=99999999999999999999', { maxAge: 2 ** 31 }],
      ['max-age=60', { maxAge: 20 }, '40'],
      ['max-age=60', { maxAge: 0 }, '61'],
      ['max-age=60', { maxAge: 60 }, 'old'],
      [`${'a,'.repeat(1_000)}max-age=60`, {}],
    ];
  for (const [header, freshness, age] of cases) {
    t.same(originFreshness(header, age), { ...none, ...freshness }, String(header).slice(0, 50));
  }
  t.same(originFreshness(undefined, undefined), none);
});
