import sharp from 'sharp';
import t from 'tap';
import { rendered } from '../rendering/drawn.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';
import { openPool, patient } from './pools.ts';

const source = shared(await noise(640, 400).jpeg().toBuffer());
const avif = variant({ formats: ['avif'] });

/** Returns the entity tag, a digest of the bytes, for a number of threads. */
async function etagWith(threads: number): Promise<string> {
  sharp.concurrency(threads);
  return (await rendered(source, { formats: ['avif'] })).etag;
}
const [first, two] = [await etagWith(1), await etagWith(2)];

t.test('returns the AVIF bytes of two encoder threads, even next to other formats', async (t) => {
  t.not(first, two, 'the number of threads determines the bytes');
  const pool = openPool(t, { poolThreads: 2 });
  const others = new AbortController();
  const other = async () => {
    while (!others.signal.aborted) {
      await pool.transform(source, variant({ formats: ['jpeg'], width: 40 }), patient);
    }
  };
  const running = other();
  for (let i = 0; i < 4; i += 1) {
    t.equal((await pool.transform(source, avif, patient)).etag, two);
  }
  others.abort();
  await running;
  t.equal(sharp.concurrency(), 1, 'one thread after it');
});

t.test("uses one encoder thread for JPEG, and two for the source's own format", async (t) => {
  const pool = openPool(t);
  const jpeg = pool.transform(source, variant({ formats: ['jpeg'] }), patient);
  t.equal(sharp.concurrency(), 1);
  await jpeg;
  const ownFormat = pool.transform(source, variant({ formats: [] }), patient);
  t.equal(sharp.concurrency(), 2);
  await ownFormat;
  t.equal(sharp.concurrency(), 1);
});

t.test('returns the threads of a failed transform', async (t) => {
  const pool = openPool(t);
  await t.rejects(pool.transform(shared(Buffer.from('GIF89a')), avif, patient));
  t.equal(sharp.concurrency(), 1);
});
