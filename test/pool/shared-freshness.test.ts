import sharp from 'sharp';
import t, { type Test } from 'tap';
import { parseS3Location } from '../../contract/s3-location.ts';
import { imageInputs } from '../../pool/inputs.ts';
import { until } from '../until.ts';
import { openEngine } from './engine.ts';
import { variant } from './rendering/pictures.ts';
import { imageRequest } from './requests.ts';
import { startTestS3, variables } from './s3/server.ts';
import { startOrigin } from './source/origin.ts';

const versions = { red: 100, blue: 50 } as const;
type Version = keyof typeof versions;

/**
 * Starts two machines that share a bucket. Their project follows the origin, and images stay fresh
 * for 10 s.
 */
async function startMachines(t: Test) {
  Object.assign(process.env, variables);
  const pictures = {} as Record<Version, Buffer>;
  for (const [background, width] of Object.entries(versions)) {
    const create = { width, height: 100, channels: 3, background } as const;
    pictures[background as Version] = await sharp({ create }).png().toBuffer();
  }
  const current = { version: 'red' as Version, at: 1_000_000_000 };
  const origin = await startOrigin(t, (request, response) => {
    response.setHeader('etag', `"${current.version}"`);
    response.setHeader('cache-control', 'max-age=10, stale-while-revalidate=0');
    const isKnown = request.headers['if-none-match'] === `"${current.version}"`;
    if (isKnown) response.statusCode = 304;
    response.end(isKnown ? undefined : pictures[current.version]);
  });
  const bucket = await startTestS3(t);
  const start = (aheadMs: number) => {
    const engine = openEngine(
      t,
      {
        memoryCacheBytes: 1e7,
        sharedCacheUrl: parseS3Location(bucket.url),
        sharedCacheTimeoutMs: 5_000,
        sourceMinAgeSeconds: 1,
        sourceMaxAgeSeconds: 1_000,
        staleIfErrorSeconds: 100,
      },
      { now: () => current.at + aheadMs },
    );
    /** Returns an image's cache tier and the version that it shows. */
    return async (width: number) => {
      const { tier, image } = await engine.get(
        imageRequest({
          key: String(width).padStart(64, '0'),
          inputs: imageInputs(origin.url('/picture.png'), null, variant(), () => true),
          variant: variant({ width }),
          freshness: { sourceAge: 'origin', stateKeys: ['f'.repeat(64)] },
        }),
        new AbortController().signal,
      );
      await until('the writes', () => engine.stats().shared?.queuedBytes === 0);
      return `${tier} ${image.width * 100 === image.height * 50 ? 'blue' : 'red'}`;
    };
  };
  return { current, bucket, start };
}

t.test('ignores an image of a version that the origin has since replaced', async (t) => {
  const { current, start } = await startMachines(t);
  const [first, second] = [start(0), start(0)];
  t.equal(await first(20), 'miss red');
  current.at += 1_000;
  t.equal(await second(20), 'shared red');
  current.at += 20_000;
  current.version = 'blue';
  t.equal(await second(30), 'miss blue');
  current.at += 5_000;
  current.version = 'red';
  current.at += 15_000;
  t.equal(await first(30), 'miss red', 'the origin has said 304 to this machine');
  t.equal(await first(20), 'memory red', 'an image of the same bytes stays valid');
  current.at += 20_000;
  t.equal(await second(30), 'shared red');
});

t.test('ignores an outdated image even from a machine with a fast clock', async (t) => {
  const { current, start } = await startMachines(t);
  const [right, fast] = [start(0), start(30_000)];
  t.equal(await right(20), 'miss red');
  t.equal(await fast(30), 'miss red');
  current.at += 20_000;
  current.version = 'blue';
  t.equal(await right(20), 'miss blue');
  current.at += 40_000;
  t.equal(await right(30), 'miss blue');
});
