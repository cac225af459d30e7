import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { startSampleOrigin } from '../../bench/origin/origin.ts';
import { createClient } from '../../sdk/src/client/index.ts';
import { rootPath } from '../root.ts';
import { freePort, type Service, startService } from '../service/service.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { until } from '../until.ts';
import { check, type PageImage, visit } from './page.ts';

/**
 * `npm run test:frameworks [-- NAME…]`: installs the packed SDK and the frameworks of `sdk/examples/` from the npm
 * registry in a temporary folder, and opens the pages of the examples in Chromium with a service of its own. The
 * current Astro and Nuxt need Node 22.
 */
const run = promisify(execFile);
const examples = join(rootPath, 'sdk/examples');
const apiKey = 'sk_key-of-the-frameworks';
const widths = [390, 900, 1_600];
const densities = [1, 2, 3];
const installMs = 10 * 60_000;
/** Bounds that a project may have; each candidate is to have the pixels that it says with them. */
const bounds = { defaultDpr: 2, maxWidth: 1_500 };
const plainEnvironment = { ...process.env, NODE_OPTIONS: '' };

const endings: (() => unknown)[] = [];
const t = { teardown: (action: () => unknown) => void endings.unshift(action) };

/** Starts an example as its readers do; resolves with its address. */
async function start(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const port = await freePort();
  const child = spawn('npm', ['start'], {
    cwd: folder,
    env: { ...plainEnvironment, ...environment, PORT: String(port), HOSTNAME: '127.0.0.1' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  const ended = once(child, 'exit');
  t.teardown(() => {
    // The whole group: npm does not pass signals on to the programs of its shell.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    return ended;
  });
  const url = `http://127.0.0.1:${port}/`;
  await until(
    'the page of the example',
    () => {
      if (child.exitCode !== null) throw new Error(`npm start failed:\n${output}`);
      return fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    installMs,
  );
  return url;
}

/** A project with these bounds; the secret of its signed URLs if it requires them. */
async function createProject(service: Service, isSigned: boolean) {
  const project = await service.project();
  const client = createClient({ baseUrl: service.url, apiKey });
  await client.updateProjectSettings({ projectId: project, ...bounds });
  const printed = isSigned ? await service.admin('projects', 'sign', project) : '';
  const secret = /\S{30,}/.exec(printed)?.[0];
  return { IMAGES_PROJECT: project, ...(secret === undefined ? {} : { IMAGES_SECRET: secret }) };
}

/** Installs an example with the packed SDK; resolves with its folder. */
async function install(name: string, tarball: string, parent: string): Promise<string> {
  const folder = join(parent, name);
  await cp(join(examples, name), folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist|\.next|\.nuxt|\.output|\.astro)$/.test(path),
  });
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  manifest.dependencies['@image-delivery/sdk'] = `file:${tarball}`;
  await writeFile(file, JSON.stringify(manifest));
  const options = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', options, { cwd: folder, env: plainEnvironment, timeout: installMs });
  return folder;
}

/** The problems of an example on all screens. */
async function problemsOf(browser: Awaited<ReturnType<typeof chromium.launch>>, url: string) {
  const images = new Map<string, PageImage>();
  const problems: string[] = [];
  for (const width of widths) {
    for (const density of densities) {
      const seen = await visit(browser, url, width, density);
      problems.push(...seen.problems.map((problem) => `${width} px at ${density}x: ${problem}`));
      for (const image of seen.images) images.set(`${image.url} ${image.descriptor}`, image);
    }
  }
  if (images.size === 0) problems.push('the page has no images');
  for (const image of images.values()) {
    const problem = await check(image);
    if (problem !== null) problems.push(problem);
  }
  return { count: images.size, problems };
}

async function main(): Promise<boolean> {
  const folder = await mkdtemp(join(temporaryRoot, 'image-delivery-frameworks-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await run('npm', ['pack', '--pack-destination', folder], {
    cwd: join(rootPath, 'sdk'),
    env: plainEnvironment,
  });
  const [tarball = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const origin = await startSampleOrigin();
  t.teardown(() => origin.close());
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: apiKey } });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  t.teardown(() => browser.close());
  const given = process.argv.slice(2);
  let isGood = true;
  for (const name of given.length > 0 ? given : (await readdir(examples)).sort()) {
    const app = await install(name, join(folder, tarball), folder);
    const url = await start(app, {
      IMAGES_URL: service.url,
      IMAGES_ORIGIN: origin.url,
      IMAGES_MAX_WIDTH: String(bounds.maxWidth),
      ...(await createProject(service, name === 'html')),
    });
    const { count, problems } = await problemsOf(browser, url);
    isGood &&= problems.length === 0;
    const verdict = problems.length === 0 ? 'ok' : 'not ok';
    process.stdout.write([`${verdict} - ${name}, ${count} images`, ...problems, ''].join('\n'));
  }
  return isGood;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 2;
} finally {
  for (const end of endings) await end();
}
