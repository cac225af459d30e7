import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadSettings } from '../contract/settings/load.ts';
import { newApiKey } from '../store/identifiers.ts';
import { joinStore } from '../store/open.ts';
import { end, ephemeralPort, startCommand, untilOk } from './servers/launch.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The service and its worker as separate processes, with their data in a temporary folder. */
export interface ServiceDeployment {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string;
  /** May use sources on 127.0.0.1. */
  readonly project: string;
  /** The same, and requires signed URLs. */
  readonly signed: { readonly project: string; readonly secret: string };
  /** The primary's process id. */
  readonly pid: number;
  /** From the start of its process to the first successful `GET /api/health`, ms. */
  readonly healthyMs: number;
  readonly worker: {
    start(): Promise<void>;
    /** By SIGSTOP; resolves when the transforms that the worker has requested have ended. */
    pause(): Promise<void>;
    resume(): void;
  };
  /** `GET /api/health`. */
  health(): Promise<HealthBody>;
  close(): Promise<void>;
}

export interface HealthBody {
  readonly checks: {
    readonly cache: { diskSizeBytes: number; memorySizeBytes: number };
    readonly prewarmQueue: { active: number; queued: number; failed: number };
    readonly transformQueue: Record<'active' | 'queued' | 'concurrency', number>;
  };
}

export interface DeployOptions {
  /** The processors that the service may use, as taskset lists them; all when null. */
  readonly cpus?: string | null;
  /** A folder that is kept at the end; otherwise a temporary one. */
  readonly dataDir?: string;
}

/** @param settings in addition to those that isolate the deployment */
export async function deploy(
  settings: Readonly<Record<string, string>> = {},
  options: DeployOptions = {},
): Promise<ServiceDeployment> {
  const temporary = options.dataDir === undefined ? await temporaryFolder('bench') : null;
  const dataDir = options.dataDir ?? temporary?.path ?? '';
  const [port, workerPort] = [await ephemeralPort(), await ephemeralPort()];
  const key = newApiKey();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...process.env,
    ...settings,
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(port),
    SERVICE_BASE_URL: url,
    SERVICE_OPS_PORT: '0',
    SERVICE_WORKER_PORT: String(workerPort),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_MONGODB_URL: '',
    SERVICE_ROOT_API_KEY: key,
    SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*',
    SERVICE_LOG_LEVEL: process.env['SERVICE_LOG_LEVEL'] ?? 'error',
  };
  const run = (entry: string) => {
    const file = fileURLToPath(new URL(`../../dist/${entry}`, import.meta.url));
    const stdio: ['ignore', 'inherit', 'inherit'] = ['ignore', 'inherit', 'inherit'];
    return startCommand([process.execPath, file], options.cpus, { env, cwd: dataDir, stdio });
  };
  const startedAt = performance.now();
  const service = run('server/main.js');
  let worker: ReturnType<typeof run> | null = null;
  const close = async () => {
    await end(worker);
    await end(service);
    await temporary?.close();
  };
  const health = async () => (await fetch(`${url}/api/health`)).json() as Promise<HealthBody>;
  try {
    // Short intervals, because this measures the start.
    await untilOk(`${url}/api/health`, service, { everyMs: 4 });
    const healthyMs = performance.now() - startedAt;
    const projects = await createProjects(env, url);
    return {
      url,
      key,
      ...projects,
      healthyMs,
      health,
      close,
      pid: service.pid ?? 0,
      worker: {
        async start() {
          worker = run('worker/main.js');
          await untilOk(`http://127.0.0.1:${workerPort}/health/ready`);
        },
        async pause() {
          worker?.kill('SIGSTOP');
          while ((await health()).checks.transformQueue.active > 0) await sleep(20);
        },
        resume: () => void worker?.kill('SIGCONT'),
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An open project and one that requires signed URLs, made through the store. */
async function createProjects(
  environment: NodeJS.ProcessEnv,
  origin: string,
): Promise<Pick<ServiceDeployment, 'project' | 'signed'>> {
  const store = await joinStore(loadSettings(environment));
  try {
    const { _id: orgId } = await store.organisations.default();
    const fields = { orgId, name: 'Bench', origin, allowedOrigins: ['127.0.0.1'] };
    const { _id: project } = await store.projects.create(fields);
    const { _id: second } = await store.projects.create(fields);
    const secret = (await store.projects.requireSignatures(second, null))?.signingSecret ?? '';
    return { project, signed: { project: second, secret } };
  } finally {
    await store.close();
  }
}
