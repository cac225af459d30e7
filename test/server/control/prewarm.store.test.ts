import t from 'tap';
import { type PrewarmInput, queuePrewarm } from '../../../server/control/resources/prewarms.ts';
import type { PrewarmJob } from '../../../store/jobs.ts';
import { JobQueue } from '../../../store/jobs.ts';
import { type PrewarmCall, Prewarms } from '../../../store/prewarms.ts';
import { Projects } from '../../../store/projects.ts';
import { createGuard } from '../../pool/source/origin.ts';
import { testDatabase } from '../../store/connection.ts';

type Variants = NonNullable<PrewarmInput['variants']>;

t.test('prewarms images', async (t) => {
  const { db } = await testDatabase(t);
  const project = await new Projects(db).create({
    orgId: 'org_1',
    name: 'Shop',
    origin: 'https://a.example/',
    allowedOrigins: ['a.example', '*.cdn.example', '127.0.0.1', '10.0.0.1'],
  });
  const guard = createGuard(['10.0.0.1'], {
    own: { urls: ['http://service.example:3000/'], ports: [3000] },
  });
  const queued: PrewarmJob[] = [];
  const queue = {
    add: async ({ projectId, sources, variants }: PrewarmCall) => {
      queued.push(...sources.map((source) => ({ projectId, source, variants })));
      return 'pre_0000000000000000';
    },
  };
  const warm = async (
    input: PrewarmInput,
    prewarms: Pick<Prewarms, 'add'> = queue,
    of = project,
  ) => {
    const services = { guard, prewarms, callbacks: null };
    const { receipt } = await queuePrewarm(services, of, input);
    return receipt;
  };
  t.beforeEach(() => void queued.splice(0));

  t.test('counts distinct sources, widths and formats', async (t) => {
    const a = 'https://a.example/1.jpg';
    const b = 'https://x.cdn.example/2.jpg';
    const counts = async (input: PrewarmInput) => {
      const { accepted, sourceCount, variantCount } = await warm(input);
      return [accepted, sourceCount, variantCount];
    };
    t.same(await counts({ src: a }), [true, 1, 1]);
    const formats = ['webp', 'png'] as ['webp', 'png'];
    t.same(await counts({ sources: [a, b], widths: [1, 2, 3], formats }), [true, 2, 12]);
    t.same(await counts({ src: a, sources: [a, `${a}#x`, b] }), [true, 2, 2]);
    t.same(await counts({ src: a, widths: [5, 5], formats: ['auto', 'auto'] }), [true, 1, 1]);
  });

  t.test('queues a job per source, with all combinations of widths and formats', async (t) => {
    await warm({ src: 'HTTPS://A.example/1.jpg' });
    const source = 'https://a.example/1.jpg';
    t.same(queued.splice(0), [{ projectId: project._id, source, variants: ['fmt=auto'] }]);
    const sources = ['https://a.example/1', 'https://a.example/2'];
    const input = { quality: 70, fit: 'inside', dpr: 2 } as const;
    await warm({ sources, widths: [300, 20], formats: ['webp', 'avif'], ...input });
    const variants = ['avif', 'webp'].flatMap((format) =>
      [20, 300].map((width) => `dpr=2&fit=inside&fmt=${format}&q=70&w=${width}`),
    );
    t.match(
      queued,
      sources.map((source) => ({ source, variants })),
    );
  });

  t.test(
    'rejects the whole request for an invalid source, and names every invalid source',
    async (t) => {
      const valid = 'https://a.example/1.jpg';
      const invalid: Readonly<Record<string, RegExp>> = {
        'https://other.example/':
          /^src \(https:\/\/other\.example\/\) must be on an allowed host; other\.example is not\.$/,
        'https://a.example.evil.example/': /^src \(.*\) must be on an allowed host/,
        'https://cdn.example/': /^src \(.*\) must be on an allowed host/,
        'ftp://a.example/': /^src \(ftp:\/\/a\.example\/\) must be an absolute http or https URL/,
        'https://u:p@a.example/': /^src \(https:\/\/a\.example\/\) must be .* without userinfo/,
        'http://127.0.0.1/':
          /^src \(.*\) must be on a public host: 127\.0\.0\.1 is not; an operator can name 127\.0\.0\.1 in SERVICE_PRIVATE_SOURCES\.$/,
        'http://127.0.0.1:8000/':
          /an operator can name 127\.0\.0\.1:8000 in SERVICE_PRIVATE_SOURCES/,
        'http://10.0.0.1:8000/':
          /^src \(.*\) cannot be used: .*port 8000 of 10\.0\.0\.1.* SERVICE_PRIVATE_SOURCES\.$/,
        [`${valid}?${'x'.repeat(9_000)}`]:
          /^src \(https:\/\/a\.example\/1\.jpg\?x{76}\) must .* at most 253 characters in the host and 8192 in all\.$/,
      };
      for (const [src, message] of Object.entries(invalid)) {
        await t.rejects(warm({ src }), { code: 'invalid_request', message }, src.slice(0, 60));
        const among = { sources: [valid, src] };
        await t.rejects(warm(among), { code: 'invalid_request', message: /^sources\[1\] \(/ });
      }
      const two = { src: 'mailto:x@a.example', sources: ['https://b/'] };
      await t.rejects(warm(two), { message: /^src \(.*\) must be an.*; sources\[0\] \(.*\) must/ });
      t.same(queued, [], 'nothing is queued');
    },
  );

  t.test('checks variants like the parameters of image URLs', async (t) => {
    const src = 'https://a.example/1.jpg';
    const other = 'https://other.example/a.png';
    const card = { w: 40, dpr: 'auto', fallback: other };
    const changed = { ...project, presets: { card } };
    const refused: ReadonlyArray<readonly [Variants, RegExp]> = [
      [[{ w: 5 }, { crop: '1,2,3' }], /^variants\[1\]\.crop must be left,top,width,height: /],
      [[{ bg: 'nocolour' }], /^variants\[0\]\.bg must be hex digits without #/],
      [
        [{ dpr: 'Auto' }],
        /^variants\[0\]\.dpr must be a number: prewarming has no client hints\.$/,
      ],
      [
        [{ fallback: other }],
        /^variants\[0\]\.fallback must be on an allowed host; other\.example/,
      ],
      [[{ fallback: 'http://127.0.0.1/' }], /^variants\[0\]\.fallback must be on a public host/],
      [
        [{ preset: 'card' }],
        /^variants\[0\]\.dpr must be a number.*; variants\[0\]\.fallback must/,
      ],
      [
        [{ fallback: `${src}?${'x'.repeat(8_160)}` }],
        /^variants must have at most 8192 characters/,
      ],
    ];
    for (const [variants, message] of refused) {
      await t.rejects(warm({ src, variants }, queue, changed), {
        code: 'invalid_request',
        message,
      });
    }
    const unknown = { code: 'preset_not_found', message: /Did you mean card\?/ };
    await t.rejects(warm({ src, variants: [{ preset: 'crad' }] }, queue, changed), unknown);
    const layers = { badge: { text: {} } };
    const noLayer = { code: 'layer_not_found', message: /Did you mean badge\?/ };
    const drawing = (layer: string) => ({ src, variants: [{ w: 5 }, { layer }] });
    await t.rejects(warm(drawing('badge,bagde'), queue, { ...changed, layers }), noLayer);
    const badge = 'https://cdn.example/badge.png';
    const own = {
      ...changed,
      origin: 'https://a.example',
      allowedOrigins: ['a.example', 'cdn.example'],
    };
    const overlaid = (overlay: string, more = {}) => ({ src, variants: [{ overlay, ...more }] });
    const refusals = [
      [overlaid(badge), /^variants\[0\]: overlay needs a signed URL/],
      [overlaid(other), /^variants\[0\]: The host other\.example is not on/],
      [overlaid('/b.png', { 'overlay.w': 0 }), /^variants\[0\]\.overlay\.w must be/],
      [{ src, variants: [{ 'overlay3.x': 4 }] }, /^variants\[0\]: overlay3\.… needs an image/],
    ] as const;
    for (const [input, message] of refusals) {
      await t.rejects(warm(input, queue, own), { code: 'invalid_request', message });
    }
    t.same(queued, [], 'nothing is queued');
    await t.resolves(warm(overlaid('/b.png', { 'overlay.w': '10%' }), queue, own));
    await t.resolves(warm(overlaid(badge), queue, { ...own, requireSignedUrls: true }));
    t.match(
      queued.map(({ variants }) => variants),
      [['overlay=%2Fb.png&overlay.w=10%25'], [/^overlay=/]],
    );
    queued.length = 0;
    await t.resolves(warm(drawing('badge'), queue, { ...changed, layers }));
    await t.resolves(
      warm({ src, variants: [{ preset: 'card', dpr: 1, fallback: src }] }, queue, changed),
    );
  });

  t.test('queues variants as queries, and equal variants as equal queries', async (t) => {
    const src = 'https://a.example/1.jpg';
    const variants = [
      { w: 5, crop: '1_2_3_4' },
      { flip: true, v: '1' },
      { crop: '1_2_3_4', w: 5 },
    ];
    const { sourceCount, variantCount } = await warm({ sources: [src, `${src}?`], variants });
    t.same([sourceCount, variantCount], [2, 4]);
    t.match(queued[1], { source: `${src}?`, variants: ['crop=1_2_3_4&w=5', 'flip=true&v=1'] });
  });

  t.test('merges equal waiting work into one job, in any order of its values', async (t) => {
    const jobs = new Prewarms(db, 3);
    await new JobQueue(db).ensureIndexes();
    await jobs.ensureIndexes();
    const stored = db.collection('jobs');
    const again = (input: PrewarmInput) => warm(input, jobs);
    const src = 'https://a.example/1.jpg';
    await again({ src, widths: [1, 2], formats: ['webp', 'avif'] });
    await again({ src, widths: [2, 1, 1], formats: ['avif', 'webp'] });
    t.equal(await stored.countDocuments(), 1);
    await again({ src, widths: [1, 2], formats: ['webp', 'avif'], quality: 50 });
    t.equal(await stored.countDocuments(), 2, 'other work is another job');

    const more = ['https://a.example/2', 'https://a.example/3'];
    await t.rejects(again({ sources: [src, ...more] }), {
      code: 'prewarm_queue_full',
      message:
        'The project has 2 sources waiting to be prewarmed, of at most 3; this request would add 3. Nothing was queued.',
    });
    t.equal(await stored.countDocuments(), 2, 'none of the sources is queued');
    await t.resolves(again({ src, quality: 60 }));
  });
});
