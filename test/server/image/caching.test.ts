import t from 'tap';
import { cachingHeaders, type Lifetime } from '../../../server/image/caching.ts';

const now = 1_000_000;
const forever = Number.POSITIVE_INFINITY;
const createHeaders = (
  lifetime: Partial<Lifetime>,
  tier: 'memory' | 'miss' = 'memory',
  isProvisional = false,
) =>
  Object.fromEntries(
    cachingHeaders(
      { expires: forever, freshness: undefined, report: undefined, ...lifetime },
      { tier, isProvisional },
      now,
    ),
  );
const inSeconds = (seconds: number) => ({
  at: now,
  freshUntil: now + seconds * 1_000,
  error: null,
});

t.test('caches an image of an unsigned URL for a year', async (t) => {
  const cacheControl = 'public, max-age=31536000, immutable';
  t.same(createHeaders({}), { 'cache-control': cacheControl });
  const freshness = { sourceAge: null, browserAge: null };
  t.same(createHeaders({ freshness }), { 'cache-control': cacheControl });
});

t.test('caches a signed image until its URL expires, and a background image never', async (t) => {
  const maxAges = { 60000: 60, 59999: 59, 10: 0, [-5_000]: 0, 1e14: 31_536_000 };
  for (const [ms, seconds] of Object.entries(maxAges)) {
    const expected = { 'cache-control': `public, max-age=${seconds}` };
    t.same(createHeaders({ expires: now + Number(ms) }), expected, ms);
  }
  t.same(createHeaders({ expires: null }), { 'cache-control': 'private, no-store' });
});

t.test(
  'lets browsers cache an image for the browser age, and CDNs until it is stale',
  async (t) => {
    const freshness = { sourceAge: 300, browserAge: 60 };
    t.same(createHeaders({ freshness, report: inSeconds(200) }), {
      'cache-control': 'public, max-age=60',
      'cdn-cache-control': 'public, max-age=200',
      'surrogate-control': 'max-age=200',
      'cache-status': 'ImageDelivery; hit; ttl=200',
    });
    const onlyBrowser = { sourceAge: null, browserAge: 60 };
    t.same(createHeaders({ freshness: onlyBrowser }), {
      'cache-control': 'public, max-age=60',
      'cdn-cache-control': 'public, max-age=31536000',
      'surrogate-control': 'max-age=31536000',
    });
    const onlySource = { sourceAge: 300, browserAge: null };
    t.match(createHeaders({ freshness: onlySource, report: inSeconds(200) }, 'miss'), {
      'cache-control': 'public, max-age=31536000, immutable',
      'cdn-cache-control': 'public, max-age=200',
      'cache-status': 'ImageDelivery; fwd=miss; ttl=200',
    });
  },
);

t.test('caches a provisional image for some seconds, at most until its URL expires', async (t) => {
  const provisional = (lifetime: Partial<Lifetime>) => createHeaders(lifetime, 'miss', true);
  t.same(provisional({}), { 'cache-control': 'public, max-age=5' });
  t.same(provisional({ expires: now + 3_000 }), { 'cache-control': 'public, max-age=3' });
  t.same(provisional({ expires: null }), { 'cache-control': 'private, no-store' });
  const freshness = { sourceAge: 300, browserAge: 60 };
  t.match(provisional({ freshness, report: inSeconds(200) }), {
    'cache-control': 'public, max-age=5',
    'cdn-cache-control': 'public, max-age=5',
    'surrogate-control': 'max-age=5',
  });
  const impatient = { sourceAge: null, browserAge: 2 };
  t.match(provisional({ freshness: impatient }), { 'cache-control': 'public, max-age=2' });
  const onlySource = { sourceAge: 300, browserAge: null };
  t.match(provisional({ freshness: onlySource, report: inSeconds(2) }), {
    'cache-control': 'public, max-age=5',
    'cdn-cache-control': 'public, max-age=2',
  });
});

t.test("caches no image beyond its signed URL's expiry", async (t) => {
  const freshness = { sourceAge: 300, browserAge: 60 };
  t.match(createHeaders({ expires: now + 20_000, freshness, report: inSeconds(200) }), {
    'cache-control': 'public, max-age=20',
    'cdn-cache-control': 'public, max-age=20',
    'surrogate-control': 'max-age=20',
  });
});

t.test("caches a stale image for 5 s, and names the origin's error in its headers", async (t) => {
  const freshness = { sourceAge: 300, browserAge: 60 };
  const report = { ...inSeconds(-8), error: 'source_timeout' } as const;
  t.same(createHeaders({ freshness, report }), {
    'cache-control': 'public, max-age=5',
    'cdn-cache-control': 'public, max-age=5',
    'surrogate-control': 'max-age=5',
    'cache-status': 'ImageDelivery; hit; ttl=-8; detail=source_timeout',
  });
});
