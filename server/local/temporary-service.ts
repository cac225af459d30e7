import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { programUrl } from '../../contract/package.ts';
import { listenerUrls } from '../../contract/settings/listeners.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { ignoreOutputErrors } from '../../contract/shutdown.ts';
import { newApiKey } from '../../store/identifiers.ts';
import { joinStore } from '../../store/open.ts';
import type { NewProject } from '../../store/projects.ts';

const readyWithinMs = 60_000;
const pollEveryMs = 100;

interface TemporaryServiceOptions {
  /** Below `server/`, without extension: `start` with the worker, `main` alone. */
  readonly program: 'start' | 'main';
  /** Settings variables that override this process's environment. */
  readonly settings: Readonly<Record<string, string>>;
  /** Created in the default organisation. */
  readonly project: Omit<NewProject, 'orgId'>;
  /** Called after the service has ended. */
  readonly close: () => Promise<void>;
}

interface TemporaryService {
  readonly settings: Settings;
  /** A key for all projects. */
  readonly key: string;
  /** Ends the service and deletes its data, like the signals; this process continues. */
  close(): Promise<void>;
}

/**
 * Starts a service with a temporary data folder and a project. Resolves when it is ready. SIGINT,
 * SIGTERM and SIGHUP end both processes. If the service ends or fails to start, this process exits
 * with code 1.
 */
export async function startTemporaryService(
  options: TemporaryServiceOptions,
): Promise<TemporaryService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'image-delivery-local-'));
  const key = newApiKey();
  const environment = {
    ...process.env,
    ...options.settings,
    SERVICE_DATA_DIR: dataDir,
    SERVICE_MONGODB_URL: '',
    SERVICE_CONSOLE: 'on',
    SERVICE_ROOT_API_KEY: key,
    // The service writes to a pipe, which would make it log JSON by default.
    SERVICE_LOG_FORMAT: process.env['SERVICE_LOG_FORMAT'] === 'json' ? 'json' : 'text',
    SERVICE_LOG_LEVEL: process.env['SERVICE_LOG_LEVEL'] || 'warn',
  };
  const settings = loadSettings(environment);
  const entry = fileURLToPath(programUrl(`server/${options.program}`));
  // Detached: Ctrl-C in a terminal must not reach it, because this process signals it. If this
  // process is killed, it notices by the channel.
  const service = spawn(process.execPath, [...process.execArgv, entry], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    detached: true,
  });
  service.stdout?.pipe(process.stdout);
  const ended = once(service, 'exit');

  let stopping = false;
  const close = async () => {
    stopping = true;
    service.kill('SIGTERM');
    await ended;
    await options.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  const stop = async (exitCode: number): Promise<never> => {
    if (stopping) return new Promise(() => {});
    await close();
    process.exit(exitCode);
  };
  process.on('SIGINT', () => {
    if (stopping) return void service.kill('SIGKILL');
    process.stdout.write('\nStopping.\n');
    void stop(0);
  });
  process.on('SIGTERM', () => void stop(0));
  // Output fails after the terminal closes.
  ignoreOutputErrors();
  process.on('SIGHUP', () => void stop(0));
  void ended.then(() => stop(1));

  try {
    await untilReady(settings, key);
    await createProject(settings, options.project);
  } catch (error) {
    if (!stopping) process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    await stop(1);
  }
  return { settings, key, close };
}

/** Resolves when the service accepts its key, which another service on this port would reject. */
async function untilReady({ host, port }: Settings, key: string): Promise<void> {
  const url = `${listenerUrls(host, port)[0]}/api/sdk/v1/projects`;
  const headers = { authorization: `Bearer ${key}` };
  const deadline = Date.now() + readyWithinMs;
  while (Date.now() < deadline) {
    const response = await fetch(url, { headers }).catch(() => null);
    await response?.arrayBuffer().catch(() => {});
    if (response?.ok) return;
    await sleep(pollEveryMs);
  }
  throw new Error('The service did not become ready.');
}

async function createProject(
  settings: Settings,
  project: TemporaryServiceOptions['project'],
): Promise<void> {
  const store = await joinStore(settings);
  try {
    const { _id: orgId } = await store.organisations.default();
    await store.projects.create({ ...project, orgId });
  } finally {
    await store.close();
  }
}
