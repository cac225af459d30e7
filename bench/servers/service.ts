import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ownFile } from '../../contract/package.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import { newApiKey } from '../../store/identifiers.ts';
import { joinStore } from '../../store/open.ts';
import { OpenResources, temporaryFolder } from '../resources.ts';
import { end, ephemeralPort, processTree, startCommand, untilOk } from './launch.ts';
import { encodedSource, type ImageServer } from './server.ts';

export interface HealthBody {
  readonly checks: {
    readonly cache: { diskSizeBytes: number; memorySizeBytes: number };
    readonly prewarmQueue: { active: number; queued: number; failed: number };
    readonly transformQueue: Record<'active' | 'queued' | 'completed' | 'concurrency', number>;
  };
}

type Settings = Readonly<Record<string, string>>;

/**
 * The built service in a separate process. It can restart on its port, with or without its data.
 */
export class ServiceProcess {
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  readonly #dataDir: string;
  readonly #cpus: string | null;
  #process: ReturnType<typeof startCommand> | null = null;

  private constructor(port: number, dataDir: string, settings: Settings, cpus: string | null) {
    this.port = port;
    this.#dataDir = dataDir;
    this.#cpus = cpus;
    this.env = {
      ...process.env,
      ...settings,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_BASE_URL: this.url,
      SERVICE_OPS_PORT: '0',
      SERVICE_DATA_DIR: dataDir,
      SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*',
      SERVICE_LOG_LEVEL: process.env['SERVICE_LOG_LEVEL'] ?? 'error',
    };
  }

  /** @param cpus processors to use, in taskset's format; null for all */
  static async create(dataDir: string, settings: Settings, cpus: string | null = null) {
    return new ServiceProcess(await ephemeralPort(), dataDir, settings, cpus);
  }

  /** Without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The primary's process id. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** @returns the time to the first successful `GET /api/health`, ms */
  async start(): Promise<number> {
    await mkdir(this.#dataDir, { recursive: true });
    const startedAt = performance.now();
    this.#process = this.run('server/main.js');
    // Short intervals, because this measures the start.
    await untilOk(`${this.url}/api/health`, this.#process, { everyMs: 4 });
    return performance.now() - startedAt;
  }

  /** Runs a program of the build with the environment of this service. */
  run(program: string): ReturnType<typeof startCommand> {
    const file = fileURLToPath(ownFile(`dist/${program}`));
    return startCommand([process.execPath, file], this.#cpus, {
      env: this.env,
      cwd: this.#dataDir,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  }

  /** Calls an operation of the control plane. @param path below `/api/sdk/v1` */
  async post(path: string, body: object): Promise<void> {
    const response = await fetch(`${this.url}/api/sdk/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.env['SERVICE_ROOT_API_KEY']}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }

  async health(): Promise<HealthBody> {
    return (await fetch(`${this.url}/api/health`)).json() as Promise<HealthBody>;
  }

  /** Ends the service by SIGTERM, as an operator does. */
  async close(): Promise<void> {
    await end(this.#process);
    this.#process = null;
  }

  /** Simulates a power failure: sends SIGKILL to all processes of the service. */
  async kill(): Promise<void> {
    for (const pid of await processTree(this.pid)) process.kill(pid, 'SIGKILL');
    await this.close();
  }

  /** Deletes the data folder. */
  async erase(): Promise<void> {
    await rm(this.#dataDir, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The service and its worker, with a separate store, key and projects. */
export interface DeployedService extends ImageServer {
  readonly process: ServiceProcess;
  /** A project that can use sources on 127.0.0.1. */
  readonly project: string;
  /** The same, and requires signed URLs. */
  readonly signed: { readonly project: string; readonly secret: string };
  readonly worker: {
    start(): Promise<void>;
    /** By SIGSTOP; resolves when the transforms that the worker has requested have ended. */
    pause(): Promise<void>;
    resume(): void;
  };
}

/**
 * @param settings in addition to the settings that isolate the deployment
 * @param dataDir a folder to keep at the end; a temporary folder by default
 */
export async function deployService(
  settings: Settings = {},
  { cpus = null, dataDir }: { readonly cpus?: string | null; readonly dataDir?: string } = {},
): Promise<DeployedService> {
  const opened = new OpenResources();
  const folder = dataDir ?? (await opened.open(temporaryFolder('bench'))).path;
  const workerPort = await ephemeralPort();
  const isolated = {
    ...settings,
    SERVICE_MONGODB_URL: '',
    SERVICE_ROOT_API_KEY: newApiKey(),
    SERVICE_WORKER_PORT: String(workerPort),
  };
  const service = await opened.open(ServiceProcess.create(folder, isolated, cpus));
  const { url } = service;
  let worker: ReturnType<typeof startCommand> | null = null;
  await opened.open({ close: () => end(worker) });
  try {
    const healthyMs = await service.start();
    const projects = await createProjects(service.env, url);
    const { project } = projects;
    return {
      name: 'service',
      url,
      pid: service.pid,
      healthyMs,
      process: service,
      ...projects,
      imageUrl: ({ source, width, height, format, quality }) => {
        const box = height === undefined ? `w=${width}` : `w=${width}&h=${height}&fit=inside`;
        return `${url}/img/${encodedSource(source)}?project=${project}&${box}&fmt=${format}&q=${quality}`;
      },
      worker: {
        async start() {
          worker = service.run('worker/main.js');
          await untilOk(`http://127.0.0.1:${workerPort}/health/ready`);
        },
        async pause() {
          worker?.kill('SIGSTOP');
          while ((await service.health()).checks.transformQueue.active > 0) await sleep(20);
        },
        resume: () => void worker?.kill('SIGCONT'),
      },
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** An open project and one that requires signed URLs, made through the store. */
async function createProjects(
  environment: NodeJS.ProcessEnv,
  origin: string,
): Promise<Pick<DeployedService, 'project' | 'signed'>> {
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
