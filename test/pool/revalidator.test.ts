import t from 'tap';
import { ServiceError } from '../../contract/errors.ts';
import { type Coalescer, onlyProcess } from '../../pool/coalescer.ts';
import { type FollowingRequest, Revalidator } from '../../pool/revalidator.ts';
import type { SourceLease } from '../../pool/source/sources.ts';
import { noPurges } from './cache/pictures.ts';
import { variant } from './rendering/pictures.ts';

const bounds = { minAge: 1, maxAge: 1_000, staleIfError: 1_000 };

const request: FollowingRequest = {
  project: 'prj_1',
  source: new URL('https://a.example/a.jpg'),
  variant: variant(),
  purges: noPurges,
  freshness: { sourceAge: 'origin', sourceKey: 'a', watermarkKey: null },
  allowed: () => true,
  background: false,
};

const lease = (fetchedAt: number): SourceLease => ({
  bytes: Buffer.from('a'),
  contentType: null,
  validators: { etag: '"1"', lastModified: null },
  freshness: { maxAge: 10, staleWhileRevalidate: 0, staleIfError: 100 },
  fetchedAt,
  fetchMs: 1,
  release() {},
  hold: () => () => {},
});

t.test('an origin that fails another process keeps the old image for stale-if-error', async (t) => {
  let at = 1_000_000;
  const failure = new ServiceError('source_timeout', 'The source did not arrive.');
  const coalescer: Coalescer = { join: () => Promise.reject(failure) };
  const ask = () => Promise.reject(new Error('the other process asks'));
  const revalidator = new Revalidator({ disk: null, coalescer, bounds, ask, now: () => at });
  revalidator.fetched('source', request, lease(at));
  const { signal } = new AbortController();
  const changed = { source: at, watermark: 0 };
  at += 50_000;
  t.same(await revalidator.validFrom(request, signal), changed);
  t.match(revalidator.report(request), { freshUntil: 1_010_000, error: 'source_timeout' });
  at += 100_000;
  await t.rejects(revalidator.validFrom(request, signal), { code: 'source_timeout' });
});

t.test('an expired source is asked before its image is used', async (t) => {
  let at = 1_000_000;
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return { ...lease(at), bytes: null };
  };
  const environment = { disk: null, coalescer: onlyProcess, bounds, ask, now: () => at };
  const revalidator = new Revalidator(environment);
  revalidator.fetched('source', request, lease(at));
  const changed = { source: at, watermark: 0 };
  at += 50_000;
  const { signal } = new AbortController();
  t.same(await revalidator.validFrom(request, signal), changed, 'it has not changed');
  t.same(await revalidator.validFrom(request, signal), changed);
  t.equal(asked, 1);
  t.equal(revalidator.report(request).freshUntil, at + 10_000);
});
