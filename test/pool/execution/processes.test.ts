// Own process: counts the processes that it has started.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import sharp from 'sharp';
import t from 'tap';
import { recognise } from '../../../pool/formats/source-formats.ts';
import { listChildren } from '../../children.ts';
import { stopTimers } from '../../clock.ts';
import { more } from '../../extended.ts';
import { root } from '../../root.ts';
import { until } from '../../until.ts';
import { drawn } from '../rendering/drawn.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';
import { openPool, patient, settings } from './pools.ts';

const svg = (inner: string, side = 100) =>
  shared(`<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${inner}</svg>`);
const small = svg('<rect width="50" height="50" fill="red"/>');
/**
 * This SVG contains no filter, which would bound its cost in advance, and fits one tile, which
 * libvips never interrupts.
 */
const slowSvg = svg('<circle cx="1000" cy="1000" r="990" fill="url(#g)"/>'.repeat(120_000), 1990);
const turnedJxl = shared(readFileSync(new URL('test/pool/formats/jxl/turned.jxl', root)));
const children = () => listChildren(process.pid);
const succeeds = (transform: Promise<unknown>) =>
  transform.then(
    () => true,
    () => false,
  );
/** Waits for the process that draws, or drew, an SVG. */
const child = () => until('a process', () => children()[0]);
const hasProc = existsSync('/proc/self/limits');

// Before a pool has threads, which block SVG in this process.
const asBefore = await drawn(small, { width: 333 });

t.test('renders an SVG to the same bytes as on a thread, and reuses its process', async (t) => {
  const pool = openPool(t);
  const made = await pool.transform(small, variant({ width: 333 }), patient);
  t.equal(made.etag, asBefore.etag);
  const pid = await child();
  t.equal(
    getPriority(pid),
    Math.min(19, getPriority() + 10),
    'its priority is below the event loop',
  );
  if (hasProc) {
    t.equal(
      readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(),
      '1000',
      'the kernel ends it before the front end',
    );
  }
  await pool.transform(small, variant({ width: 334 }), patient);
  t.same(children(), [pid]);
  await pool.close();
  t.same(children(), []);
});

t.test('refuses to decode SVG in this process, even if detection misses it', async (t) => {
  const pool = openPool(t);
  await pool.transform(shared(await noise(9, 9).png().toBuffer()), variant(), patient);
  t.equal(recognise(small)?.runsIn, 'process');
  await t.rejects(sharp(small).metadata(), /unsupported image format/);
});

t.test('ends an SVG at the timeout and frees its thread', async (t) => {
  const pass = stopTimers(t);
  const pool = openPool(t, { poolThreads: 1, transformTimeoutMs: 1500 });
  await pool.transform(small, variant(), patient);
  const pid = await child();
  const { threadsReplaced } = pool.stats();
  const slow = t.rejects(pool.transform(slowSvg, variant({ width: 1990 }), patient), {
    code: 'transform_timeout',
  });
  await until('it is drawn', () => pool.stats().costlyBytes > 0);
  pass(1500);
  await slow;
  await until('the thread is free', () => pool.stats().active === 0);
  t.notOk(children().includes(pid));
  t.equal(pool.stats().threadsReplaced, threadsReplaced);
  t.equal((await pool.transform(small, variant(), patient)).width, 100);
});

t.test('limits the drawing of an SVG to less time than a transform', async (t) => {
  const pool = openPool(t, { poolThreads: 1, svgTimeoutMs: 500 });
  await until('a process has started', () => succeeds(pool.transform(small, variant(), patient)));
  const pid = await child();
  const slow = pool.transform(slowSvg, variant({ width: 1990 }), patient);
  await t.rejects(slow, { code: 'transform_timeout', message: /SVG/ });
  await until('another SVG is rendered', () => succeeds(pool.transform(small, variant(), patient)));
  t.notOk(children().includes(pid), 'not in the process that still draws');
  const drawing = svg('<rect width="900" height="900" fill="red"/>', 2400);
  // Takes a second.
  const large = variant({ formats: ['avif'], quality: 100, lossless: true });
  const isEncoded = () => succeeds(pool.transform(drawing, large, patient));
  await until('the time does not limit the encoder', isEncoded);
});

t.test('sanitises an SVG in the same processes, within the same time', async (t) => {
  const pool = openPool(t, { poolThreads: 2, svgTimeoutMs: 500 });
  const asSvg = variant({ formats: ['svg'] });
  await until('a process has started', () => succeeds(pool.transform(small, asSvg, patient)));
  t.equal((await pool.transform(small, asSvg, patient)).contentType, 'image/svg+xml');
  t.equal(children().length, 1);
  const pid = await child();
  // A process that is stopped reads nothing; a front end's thread would deliver the image.
  process.kill(pid, 'SIGSTOP');
  const stopped = new AbortController();
  const waiting = pool.transform(small, asSvg, { ...patient, signal: stopped.signal });
  await until('it runs', () => pool.stats().costlyBytes > 0);
  const photograph = shared(await noise(9, 9).png().toBuffer());
  t.equal((await pool.transform(photograph, variant(), { ...patient, project: 'b' })).width, 9);
  stopped.abort(new Error('stopped'));
  await t.rejects(waiting, { message: 'stopped' });
  process.kill(pid, 'SIGKILL');
  // An attribute takes longer than an element's 20 bytes suggest.
  const costly = svg('<g fill="url(#a)" mask="url(#b)"/>'.repeat(49_000));
  const hurried = openPool(t, { poolThreads: 1, svgTimeoutMs: 1 });
  const late = hurried.transform(costly, asSvg, patient);
  await t.rejects(late, { code: 'transform_timeout', message: /SVG/ });
});

t.test('ends a large AVIF at the timeout, although libvips does not interrupt it', async (t) => {
  const pass = stopTimers(t);
  const pool = openPool(t, { poolThreads: 1, transformTimeoutMs: 2000 });
  // Starts the process, which a timeout during the start would not end.
  await pool.transform(turnedJxl, variant(), patient);
  const pid = await child();
  const { threadsReplaced } = pool.stats();
  const source = shared(await noise(3500, 3500).jpeg({ quality: 30 }).toBuffer());
  const large = variant({ formats: ['avif'], quality: 100 });
  const late = t.rejects(pool.transform(source, large, patient), { code: 'transform_timeout' });
  await until('it is encoded', () => pool.stats().costlyBytes > 0);
  pass(2000);
  await late;
  await until('the thread is free', () => pool.stats().active === 0);
  t.notOk(children().includes(pid), 'its process has ended');
  t.equal(pool.stats().threadsReplaced, threadsReplaced, 'no thread was replaced');
});

t.test('fails only the transform of a killed process', async (t) => {
  const pool = openPool(t, { poolThreads: 2 });
  await pool.transform(small, variant(), patient);
  const killed = await child();
  // Stop the process, so that it cannot end before the kill, however fast the machine is.
  process.kill(killed, 'SIGSTOP');
  const slow = pool.transform(slowSvg, variant({ width: 1990 }), patient);
  const refused = t.rejects(slow, { code: 'source_too_large' });
  // The first process is busy, so this transform starts another.
  await pool.transform(small, variant(), { ...patient, project: 'other' });
  t.equal(children().length, 2);
  process.kill(killed, 'SIGKILL');
  await refused;
  t.equal((await pool.transform(small, variant(), patient)).width, 100);
});

t.test('restarts an SVG that needs more than its memory share, with all memory', async (t) => {
  const pool = openPool(t, { poolThreads: 2 });
  const counted = () => pool.stats().costlyBytes;
  const drawing = svg('<rect width="6000" height="6000" fill="red"/>', 6000);
  const large = pool.transform(drawing, variant({ width: 6000, formats: ['png'] }), patient);
  await until('its part is counted', () => counted() >= 2 ** 28);
  await until('all is counted', () => counted() === settings.transformProcessMemoryBytes);
  t.match(await large, { width: 6000, height: 6000 });
  await until('the process that gave up has ended', () => children().length === 1);
  const two = openPool(t, { poolThreads: 2, transformTimeoutMs: 60_000 });
  const leave = new AbortController();
  // A project leaves one thread to others.
  const slow = ['a', 'b'].map((project) =>
    two.transform(slowSvg, variant({ width: 1_990 }), {
      ...patient,
      project,
      signal: leave.signal,
    }),
  );
  const ended = Promise.allSettled(slow);
  await until('two are counted', () => two.stats().costlyBytes === 2 ** 29);
  leave.abort();
  await ended;
});

t.test('ends only the process of an SVG that needs too much memory', async (t) => {
  const pool = openPool(t, { transformProcessMemoryBytes: 256 * 2 ** 20 });
  const steps = Array.from(
    { length: 253 },
    (_, index) => `<feOffset dx="${index}" result="r${index}"/>`,
  ).join('');
  const filter = `<filter id="f" x="0" y="0" width="1" height="1">${steps}</filter>`;
  const large = `${filter}<rect width="4000" height="4000" filter="url(#f)"/>`;
  await t.rejects(pool.transform(svg(large, 4000), variant({ width: 4000 }), patient), {
    code: 'source_too_large',
    message: /memory/,
  });
  t.equal((await pool.transform(small, variant(), patient)).width, 100);
});

t.test('starts a process for a JPEG that might need more than the limit', async (t) => {
  const create = { width: 6_800, height: 6_800, channels: 3, background: 'red' } as const;
  const jpeg = shared(await sharp({ create }).jpeg().toBuffer());
  const render = async (memoryBytes: number) => {
    const pool = openPool(t, { transformProcessMemoryBytes: memoryBytes });
    t.match(await pool.transform(jpeg, variant({ width: 100 }), patient), { width: 100 });
    const started = children().length;
    await pool.close();
    return started;
  };
  t.equal(await render(2 ** 28), 1);
  t.equal(await render(2 ** 30), 0, 'a thread is enough');
});

t.test('returns its pixel memory', { skip: !hasProc }, async (t) => {
  const pool = openPool(t);
  const drawing = svg('<rect width="1900" height="1900" fill="red"/>', 1990);
  // AVIF takes four seconds.
  for (const format of more ? (['png', 'webp', 'avif'] as const) : (['png', 'webp'] as const)) {
    await pool.transform(drawing, variant({ width: 1990, formats: [format] }), patient);
  }
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${await child()}/status`, 'utf8'));
  const mebibytes = Math.round(Number(memory?.[1]) / 1024);
  t.ok(mebibytes < 190, `${mebibytes} MiB`);
});

t.test(
  'starts processes with limits, and passes them no secrets or descriptors',
  { skip: !hasProc },
  async (t) => {
    process.env['SERVICE_ROOT_API_KEY'] = 'sk_secret';
    t.teardown(() => delete process.env['SERVICE_ROOT_API_KEY']);
    stopTimers(t);
    const pool = openPool(t, { transformTimeoutMs: 5000 });
    await pool.transform(small, variant(), patient);
    const folder = `/proc/${await child()}`;
    const environment = readFileSync(`${folder}/environ`, 'utf8');
    t.notMatch(environment, 'sk_secret');
    t.notMatch(environment, /SERVICE_|NODE_OPTIONS|PATH=\/(?!.*font)/);
    t.match(environment, 'glibc.malloc.hugetlb=1', 'buffers of pixels have huge pages');
    const limits = readFileSync(`${folder}/limits`, 'utf8');
    const soft = (name: string) => Number(new RegExp(`^${name} +(\\d+)`, 'm').exec(limits)?.[1]);
    const reservedMiB = process.versions.node.startsWith('22.') ? 8_192 : 4_096;
    t.equal(soft('Max address space'), (1_536 + reservedMiB) * 2 ** 20);
    t.equal(soft('Max cpu time'), 30);
    t.equal(soft('Max core file size'), 0);
    const open = readdirSync(`${folder}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`${folder}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
    const own = /^(\/dev\/null|anon_inode:.*|pipe:.*|\/dev\/urandom)$/;
    const others = open.filter((target) => !own.test(target));
    t.match(others, [/^socket:/], 'only its channel');
    t.equal(others.length, 1, `${others}`);
  },
);
