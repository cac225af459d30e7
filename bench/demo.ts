import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSettings } from '../contract/settings/load.ts';
import { newApiKey } from '../store/identifiers.ts';
import { joinStore, type Store } from '../store/open.ts';
import { startOrigin } from './origin/origin.ts';

/**
 * A demo of the service: an origin with sample pictures, the service with access to it, and a project.
 * The data is in a temporary folder, which is deleted at the end.
 */

const readyWithinMs = 60_000;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** The images that the demo prints URLs of. */
const examples: ReadonlyArray<readonly [title: string, picture: string, parameters: string]> = [
  ['A large JPEG, small and as WebP', 'landscape.jpg', 'w=800&fmt=webp'],
  ['A square part of it, for a high-density screen', 'landscape.jpg', 'w=320&h=320&dpr=2'],
  ['Transparency kept', 'lantern.png', 'w=400&fmt=webp'],
  ['An animation, as WebP', 'pulse.gif', 'w=240&fmt=webp'],
];

const origin = await startOrigin();
const dataDir = await mkdtemp(join(tmpdir(), 'image-delivery-demo-'));
const key = newApiKey();
const environment = {
  ...process.env,
  SERVICE_DATA_DIR: dataDir,
  SERVICE_MONGODB_URL: '',
  SERVICE_ROOT_API_KEY: key,
  SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*',
  SERVICE_LOG_LEVEL: process.env['SERVICE_LOG_LEVEL'] ?? 'warn',
};
const settings = loadSettings(environment);

// In its own process group, so that a terminal's Ctrl-C does not reach it: this process signals it.
const service = spawn(
  process.execPath,
  [fileURLToPath(new URL('../server/main.js', import.meta.url))],
  { env: environment, stdio: ['ignore', 'inherit', 'inherit'], detached: true },
);
const ended = once(service, 'exit');

let stopping = false;
async function stop(exitCode: number): Promise<never> {
  stopping = true;
  service.kill('SIGTERM');
  await ended;
  await origin.close();
  await rm(dataDir, { recursive: true, force: true });
  process.exit(exitCode);
}
process.on('SIGINT', () => {
  if (stopping) return;
  print('\nStopping.');
  void stop(0);
});
process.on('SIGTERM', () => void stop(0));
void ended.then(() => (stopping ? undefined : stop(1)));

async function untilReady(): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    const response = await fetch(`http://localhost:${settings.port}/api/health`).catch(() => null);
    if (response?.ok) return;
    if (Date.now() > deadline) throw new Error('the service did not become ready');
    await new Promise((wake) => setTimeout(wake, 100));
  }
}

async function createProject(store: Store): Promise<string> {
  try {
    const project = await store.projects.create({
      orgId: (await store.organisations.default())._id,
      name: 'Demo',
      origin: `${origin.url}/`,
      allowedOrigins: ['127.0.0.1'],
    });
    return project._id;
  } finally {
    await store.close();
  }
}

try {
  await untilReady();
  const project = await createProject(await joinStore(settings));
  const links = examples.map(([title, name, parameters]) => {
    const source = encodeURIComponent(`${origin.url}/${name}`);
    return `  ${title}:\n  ${settings.baseUrl}/img/${source}?project=${project}&${parameters}\n`;
  });
  print(`
The demo runs. Open in a browser:

${links.join('\n')}
All sample pictures:  ${origin.url}/
Project:              ${project}
API key:              ${key}

Ctrl-C stops everything and deletes the data.`);
} catch (error) {
  process.stderr.write(`The demo failed: ${error instanceof Error ? error.message : error}\n`);
  await stop(1);
}
