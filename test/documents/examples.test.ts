import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { loadSettings } from '../../contract/settings/load.ts';
import { joinStore } from '../../store/open.ts';
import { concurrently } from '../concurrently.ts';
import { rootPath } from '../root.ts';
import { rootKey } from '../service/control/control.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { freePort, plainNode, startService } from '../service/service.ts';
import { startWorker } from '../service/worker/worker.ts';
import { patienceMs, until } from '../until.ts';
import { findExamples } from './examples.ts';
import { type Block, type Page, readPages } from './pages.ts';
import { startShell } from './shell.ts';

/** Project id in the pages. The test gives each page a separate project. */
const projectInPages = 'prj_32gx1acb9wtykf3m';
const isRun = ({ language, mark }: Block): boolean =>
  language === 'console' && !mark.startsWith('not run:');
const pagesAtOnce = 4;
const missing = ['bash', 'curl', 'jq'].filter((name) => spawnSync(name, ['--version']).error);
const skip = missing.length > 0 ? `${missing.join(', ')}: not installed` : false;

// Both mostly wait for processes.
t.jobs = 2;
const buffered = true;

t.test(
  "prints the output on the page from the documents' examples",
  { skip, buffered },
  async (t) => {
    const origin = await startTestOrigin(t);
    // Replaces the sample images; one page shows the size of the coast.
    const [landscape, coast] = await Promise.all([picture(900, 735), picture(2160, 1440)]);
    origin.serve('/landscape.jpg', landscape);
    origin.serve('/coast.jpg', coast);
    const port = await freePort();
    const environment = {
      SERVICE_ROOT_API_KEY: rootKey,
      SERVICE_BASE_URL: `http://localhost:${port}`,
      SERVICE_OPS_PORT: String(await freePort()),
      SERVICE_ENCRYPTION_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
    };
    const service = await startService(t, { port, environment });
    const worker = await startWorker(t, service);
    const store = await joinStore(loadSettings(service.environment));
    t.teardown(() => store.close());
    const addresses = [
      ['localhost:3000', `localhost:${port}`],
      ['localhost:3001', new URL(worker.url).host],
      ['127.0.0.1:9090', `127.0.0.1:${environment.SERVICE_OPS_PORT}`],
      ['127.0.0.1:8000', `127.0.0.1:${origin.port}`],
      [encodeURIComponent('127.0.0.1:8000'), encodeURIComponent(`127.0.0.1:${origin.port}`)],
      ['https://www.example.com', origin.url],
    ] as const;
    const prewarmed = async () => {
      const { text } = await worker.get('/metrics');
      return ['active', 'waiting', 'delayed'].every((state) =>
        text.includes(`prewarm_queue_jobs{state="${state}"} 0`),
      );
    };

    const createProject = async () => {
      const { _id: orgId } = await store.organisations.default();
      const allowedOrigins = ['127.0.0.1', 'localhost'];
      const site = { orgId, name: 'Test', origin: `${origin.url}/`, allowedOrigins };
      return (await store.projects.create(site))._id;
    };

    /**
     * Runs several pages at a time, because they mostly wait. Each page uses a separate shell and
     * project.
     */
    const run = async ({ blocks }: Page) => {
      const examples = blocks.filter(isRun);
      if (examples.length === 0) return [];
      const identifiers = new Map([[projectInPages, await createProject()]]);
      const options = { environment: service.environment, addresses, rootKey, identifiers };
      const runExample = await startShell(t, options);
      const results: { where: string; error: string | null }[] = [];
      for (const { page, line, text, mark } of examples) {
        // On a busy machine its low priority can delay it for minutes.
        if (mark === 'after: prewarming') {
          await until('the prewarming is done', prewarmed, 2 * patienceMs);
        }
        for (const example of findExamples(text)) {
          const where = `${page}:${line} ${example.command.slice(0, 80)}`;
          results.push({ where, error: await runExample(example) });
        }
      }
      return results;
    };
    // Running all pages at once would delay the store for longer than a request's limit.
    const results = (await concurrently(pagesAtOnce, await readPages(), run)).flat();
    t.ok(results.length > 50, `${results.length} examples`);
    for (const { where, error } of results) t.equal(error, null, where);
  },
);

/** `npm run demo`, as README.md and docs/tutorial.md have it. */
t.test('prints image URLs from the demo, which removes its files', { buffered }, async (t) => {
  const [program, ...args] = plainNode;
  const demo = spawn(program, [...args, join(rootPath, 'dist/demo/main.js')], {
    env: {
      ...process.env,
      SERVICE_PORT: String(await freePort()),
      SERVICE_WORKER_PORT: String(await freePort()),
      SERVICE_OPS_PORT: '0',
      // Slow work on a busy machine is not an error here.
      SERVICE_SOURCE_TIMEOUT_MS: '100000',
      SERVICE_TRANSFORM_TIMEOUT_MS: '100000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(demo, 'exit');
  t.teardown(async () => {
    demo.kill('SIGTERM');
    await ended;
  });
  const urls: string[] = [];
  let page = '';
  for await (const line of createInterface({ input: demo.stdout })) {
    const [url] = /http\S+\/img\/\S+/.exec(line) ?? [];
    if (url !== undefined) urls.push(url);
    page = /^ +(http\S+\/)$/.exec(line)?.[1] ?? page;
    if (line.startsWith('Ctrl-C')) break;
  }
  // The animation, which is the smallest sample.
  const response = await fetch(urls.find((url) => url.includes('pulse.gif')) ?? '');
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^image\//);
  const opened = await (await fetch(page)).text();
  const project = /project=(\w+)/.exec(urls[0] ?? '')?.[1];
  t.match(opened, `data-project="${project}" data-pictures="http://127.0.0.1:`);
  const [first] = /http:[^ "]+\/landscape\.jpg/.exec(opened) ?? [];
  t.ok(urls.some((url) => url.includes(encodeURIComponent(first ?? 'none'))));
  const { port } = new URL(page);
  await t.rejects(fetch(`http://127.0.0.2:${port}/`), 'other machines cannot reach it');
  demo.kill('SIGTERM');
  t.same(await ended, [0, null]);
});
