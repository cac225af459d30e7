import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadSettings } from '../contract/settings/load.ts';
import { newApiKey } from '../store/identifiers.ts';
import { joinStore } from '../store/open.ts';

const readyWithinMs = 60_000;

/** The service and its worker as separate processes, with their data in a temporary folder. */
export interface Deployment {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string;
  /** May use sources on 127.0.0.1. */
  readonly project: string;
  /** Likewise, and requires signed URLs. */
  readonly signed: { readonly project: string; readonly secret: string };
  /** The primary's process id. */
  readonly pid: number;
  readonly worker: {
    start(): Promise<void>;
    /** By SIGSTOP; resolves when the transforms that the worker has requested have ended. */
    pause(): Promise<void>;
    resume(): void;
    kill(): Promise<void>;
  };
  /** `GET /api/health`. */
  health(): Promise<Health>;
  close(): Promise<void>;
}

export interface Health {
  readonly checks: {
    readonly cache: { diskSizeBytes: number; memorySizeBytes: number };
    readonly prewarmQueue: { active: number; queued: number; failed: number };
    readonly transformQueue: {
      active: number;
      queued: number;
      completed: number;
      concurrency: number;
    };
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function untilOk(url: string): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    const response = await fetch(url).catch(() => null);
    await response?.arrayBuffer();
    if (response?.ok) return;
    if (Date.now() > deadline) throw new Error(`${url} does not answer`);
    await sleep(50);
  }
}

/** @param settings in addition to those that isolate the deployment */
export async function deploy(settings: Readonly<Record<string, string>> = {}): Promise<Deployment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'image-delivery-bench-'));
  const [port, workerPort] = [await freePort(), await freePort()];
  const key = newApiKey();
  const environment = {
    ...process.env,
    ...settings,
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(port),
    SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
    SERVICE_OPS_PORT: '0',
    SERVICE_WORKER_PORT: String(workerPort),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_MONGODB_URL: '',
    SERVICE_ROOT_API_KEY: key,
    SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*',
    SERVICE_LOG_LEVEL: process.env['SERVICE_LOG_LEVEL'] ?? 'error',
  };
  const run = (entry: string): ChildProcess =>
    spawn(process.execPath, [fileURLToPath(new URL(`../${entry}`, import.meta.url))], {
      env: environment,
      cwd: dataDir,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  const end = async (child: ChildProcess | null, signal: NodeJS.Signals): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    // A paused process handles no other signals.
    child.kill('SIGCONT');
    await ended;
  };

  const url = `http://127.0.0.1:${port}`;
  const service = run('server/main.js');
  let worker: ChildProcess | null = null;
  const close = async () => {
    await end(worker, 'SIGTERM');
    await end(service, 'SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  };
  const health = async () => (await fetch(`${url}/api/health`)).json() as Promise<Health>;
  try {
    await untilOk(`${url}/api/health`);
    const store = await joinStore(loadSettings(environment));
    const { _id: orgId } = await store.organisations.default();
    const fields = { orgId, name: 'Bench', origin: url, allowedOrigins: ['127.0.0.1'] };
    const { _id: project } = await store.projects.create(fields);
    const { _id: second } = await store.projects.create(fields);
    const secret = (await store.projects.requireSignatures(second, null))?.signingSecret ?? '';
    await store.close();
    return {
      ...{ url, key, project, health, close },
      signed: { project: second, secret },
      pid: service.pid ?? 0,
      worker: {
        async start() {
          worker = run('worker/main.js');
          await untilOk(`http://127.0.0.1:${workerPort}/health/ready`);
        },
        async pause() {
          worker?.kill('SIGSTOP');
          // The transforms that it has requested are still in progress.
          while ((await health()).checks.transformQueue.active > 0) await sleep(20);
        },
        resume: () => void worker?.kill('SIGCONT'),
        kill: () => end(worker, 'SIGKILL'),
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
