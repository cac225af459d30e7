import t from 'tap';
import { readAddress } from '../../server/image/address.ts';
import { readAccept } from '../../server/image/negotiate.ts';
import { prewarmRequests } from '../../worker/variants.ts';
import { prewarmJob } from '../store/prewarm-job.ts';

const job = prewarmJob({
  source: 'https://a.example/x y.jpg?v=1&w=9#top',
  variants: ['fmt=auto'],
});
const read = (target: string) => {
  const [path = '', query = ''] = target.split('?');
  const { source, projectId, parameters } = readAddress(path, query);
  return { source: source.href, projectId, parameters: Object.fromEntries(parameters) };
};

t.test(
  'requests auto for clients that accept AVIF, only WebP, or just the basic formats',
  async (t) => {
    const requests = prewarmRequests(job);
    t.equal(new Set(requests.map(({ target }) => target)).size, 1, 'one URL');
    t.same(
      requests.map(({ accept }) => readAccept(accept)),
      [['avif', 'webp'], ['webp'], []],
    );
  },
);

t.test('requests auto for clients of every format that the service negotiates', (t) => {
  const order = ['jxl', 'avif', 'webp'] as const;
  const requests = prewarmRequests(job, order);
  t.same(
    requests.map(({ accept }) => readAccept(accept, order)),
    [['jxl', 'avif', 'webp'], ['avif', 'webp'], ['webp'], []],
  );
  t.match(requests[0]?.label, /auto\/jxl$/);
  t.end();
});

t.test('requests the source and the parameters of a variant', async (t) => {
  const [{ target = '' } = {}] = prewarmRequests(job);
  t.same(read(target), {
    source: 'https://a.example/x%20y.jpg?v=1&w=9',
    projectId: job.projectId,
    parameters: { fmt: 'auto' },
  });
});

t.test('requests each width once in each format', async (t) => {
  const queries = ['webp', 'auto', 'png'].map((format) => [
    `fmt=${format}&w=100`,
    `fmt=${format}&w=200`,
  ]);
  const requests = prewarmRequests({ ...job, variants: queries.flat() });
  const variants = requests.map(({ target, accept }) => {
    const { w, fmt } = read(target).parameters;
    return `${w} ${fmt} ${accept}`;
  });
  t.equal(variants.length, 2 * (1 + 3 + 1));
  t.equal(new Set(variants).size, variants.length);
  t.ok(variants.includes('200 png */*'));
  t.equal(new Set(requests.map(({ label }) => label)).size, variants.length, 'labels are unique');
});

t.test('requests variants with their parameters, and keeps secrets out of labels', async (t) => {
  const fallback = 'fallback=https%3A%2F%2Fa.example%2F%3Fkey%3Dsecret';
  const variants = ['fmt=webp&h=5&w=9', `${fallback}&preset=a+b`, ''];
  const requests = prewarmRequests({ ...job, variants });
  t.same(read(requests[0]?.target ?? '').parameters, { fmt: 'webp', h: '5', w: '9' });
  t.match(read(requests[1]?.target ?? '').parameters, { preset: 'a b', fallback: /key=secret$/ });
  t.same(read(requests.at(-1)?.target ?? '').parameters, {});
  const auto = (size: string) => ['avif', 'webp', 'plain'].map((kind) => `${size} auto/${kind}`);
  t.same(
    requests.map(({ label }) => label),
    ['w=9 h=5 webp', ...auto('preset=a b'), ...auto('own width')],
  );
});
