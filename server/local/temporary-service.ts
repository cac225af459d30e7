import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ignoreOutputErrors } from '../../contract/output-errors.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { newApiKey } from '../../store/identifiers.ts';
import { joinStore } from '../../store/open.ts';
import type { NewProject } from '../../store/projects.ts';

const readyWithinMs = 60_000;
const pollEveryMs = 100;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** A service of this machine with its own data, which are deleted at the end. */
export interface TemporaryService {
  readonly settings: Settings;
  /** For all projects. */
  readonly key: string;
  /** Its id. */
  createProject(project: Omit<NewProject, 'orgId'>): Promise<string>;
  /** Ends the service and this process. */
  stop(exitCode: number): Promise<never>;
}

export interface TemporaryServiceOptions {
  /** Below `server/`, without extension: `start` with the worker, `main` without it. */
  readonly program: 'start' | 'main';
  /** Variables of settings in place of those of this process. */
  readonly settings: Readonly<Record<string, string>>;
  /** Called at the end. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a service on a temporary data folder and resolves when it is ready. SIGINT, SIGTERM and SIGHUP end it
 * and this process; when the service ends by itself, this process ends with code 1.
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
    // The service's output is passed on by this process, so the service sees no terminal.
    SERVICE_LOG_FORMAT: process.env['SERVICE_LOG_FORMAT'] === 'json' ? 'json' : 'text',
    SERVICE_LOG_LEVEL: process.env['SERVICE_LOG_LEVEL'] || 'warn',
  };
  const settings = loadSettings(environment);
  const extension = extname(fileURLToPath(import.meta.url));
  const entry = fileURLToPath(new URL(`../${options.program}${extension}`, import.meta.url));
  // In its own process group, so that a terminal's Ctrl-C does not reach it: this process signals it.
  // The channel tells it when this process has been killed.
  const service = spawn(process.execPath, [...process.execArgv, entry], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    detached: true,
  });
  service.stdout?.pipe(process.stdout);
  const ended = once(service, 'exit');

  let stopping = false;
  const stop = async (exitCode: number): Promise<never> => {
    if (stopping) return new Promise(() => {});
    stopping = true;
    service.kill('SIGTERM');
    await ended;
    await options.close();
    await rm(dataDir, { recursive: true, force: true });
    process.exit(exitCode);
  };
  process.on('SIGINT', () => {
    if (stopping) return void service.kill('SIGKILL');
    print('\nStopping.');
    void stop(0);
  });
  process.on('SIGTERM', () => void stop(0));
  // The terminal closes.
  ignoreOutputErrors();
  process.on('SIGHUP', () => void stop(0));
  void ended.then(() => stop(1));

  await untilReady(settings, key).catch(async (error: Error) => {
    if (!stopping) process.stderr.write(`${error.message}\n`);
    await stop(1);
  });
  return {
    settings,
    key,
    stop,
    async createProject(project) {
      const store = await joinStore(settings);
      try {
        const { _id: orgId } = await store.organisations.default();
        return (await store.projects.create({ ...project, orgId }))._id;
      } finally {
        await store.close();
      }
    },
  };
}

/** Resolves when the service accepts its own key, which another service on this port would not. */
async function untilReady({ host, port }: Settings, key: string): Promise<void> {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const address = everywhere[host] ?? host;
  const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const headers = { authorization: `Bearer ${key}` };
  const deadline = Date.now() + readyWithinMs;
  while (Date.now() < deadline) {
    const url = `http://${authority}/api/sdk/v1/projects`;
    const response = await fetch(url, { headers }).catch(() => null);
    await response?.arrayBuffer().catch(() => {});
    if (response?.ok) return;
    await sleep(pollEveryMs);
  }
  throw new Error('The service did not become ready.');
}
