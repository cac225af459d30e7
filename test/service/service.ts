import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { loadSettings } from '../../contract/settings/load.ts';
import { joinStore } from '../../store/open.ts';
import { rootPath } from '../root.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { patienceMs } from '../until.ts';

const run = promisify(execFile);
const dist = join(rootPath, 'dist');

/**
 * Node without tap's hooks, which NODE_OPTIONS gives to every child: they are not what runs in
 * production, slow its processes down, and can keep one whose parent dies from ever starting.
 */
export const plainNode = ['env', '-u', 'NODE_OPTIONS', process.execPath] as const;
const [program, ...programArgs] = plainNode;

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly primary: ChildProcess;
  readonly environment: Readonly<Record<string, string>>;
  /** Every log line so far. */
  readonly log: readonly LogLine[];
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the first log line that fits, past or to come. */
  waitForLog(fits: (line: LogLine) => boolean, withinMs?: number): Promise<LogLine>;
  /** Pids of the front ends that listen now, oldest first. */
  frontEnds(): number[];
  admin(...args: string[]): Promise<string>;
  /** Makes a project that may use 127.0.0.1 and localhost; its id. */
  project(...hosts: string[]): Promise<string>;
  /** Sends a signal and resolves with the exit code, or the signal that ended it. */
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

interface Teardown {
  teardown(action: () => Promise<unknown>): void;
}

export interface ServiceOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** To start again on the data of a service before; it is then not removed. */
  readonly dataDir?: string;
  readonly port?: number;
  /** The folder of the built service, when it is another one than this project's. */
  readonly dist?: string;
}

/** A JSON body without its type: what the tests say of it is the check. */
// biome-ignore lint/suspicious/noExplicitAny: any other type would repeat the service's own
export async function json(response: { json(): Promise<unknown> }): Promise<any> {
  return response.json();
}

const givenPorts = new Set<number>();

/** A port that nobody listens on, another one each time; somebody else might take it, but hardly will. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  if (givenPorts.has(port)) return freePort();
  givenPorts.add(port);
  return port;
}

/** The store of the tests: a database of its own on the server that the environment names, if any. */
function storeEnvironment(): Record<string, string> {
  const url = process.env['SERVICE_MONGODB_URL'];
  if (url === undefined || url === '') return {};
  const own = new URL(url.replace(/^mongodb/, 'http'));
  own.pathname = `/image_delivery_test_${randomBytes(6).toString('hex')}`;
  return { SERVICE_MONGODB_URL: own.href.replace(/^http/, 'mongodb') };
}

async function dropDatabase(url: string | undefined): Promise<void> {
  if (url === undefined) return;
  const client = new MongoClient(url);
  await client.db().dropDatabase();
  await client.close();
}

/** Starts the built service in processes of its own, and resolves when it is ready. */
export async function startService(t: Teardown, options: ServiceOptions = {}): Promise<Service> {
  const service = await launch(t, options);
  await service.waitForLog((line) => line.msg === 'the service is ready');
  return service;
}

/** Starts the built service without waiting for it: for those that are meant to fail. */
export async function launch(t: Teardown, options: ServiceOptions = {}): Promise<Service> {
  const port = options.port ?? (await freePort());
  const dataDir = options.dataDir ?? (await mkdtemp(join(temporaryRoot, 'image-delivery-')));
  const ownStore = storeEnvironment();
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(port),
    SERVICE_DATA_DIR: dataDir,
    // Whatever the machine; a test of several says how many.
    SERVICE_PROCESSES: '1',
    // One of its own, where a test asks for it.
    SERVICE_OPS_PORT: '0',
    // What takes long on a busy machine is no failure here.
    SERVICE_SOURCE_TIMEOUT_MS: '100000',
    SERVICE_TRANSFORM_TIMEOUT_MS: '100000',
    SERVICE_PRIVATE_SOURCES: '127.0.0.0/8:*,localhost:*',
    ...ownStore,
    ...options.environment,
  };
  const main = join(options.dist ?? dist, 'server/main.js');
  const primary = spawn(program, [...programArgs, main], {
    // Somewhere without a .env file of the developer's.
    cwd: dataDir,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const service = new RunningService(primary, port, dataDir, environment);
  t.teardown(async () => {
    await service.end('SIGKILL');
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    if (options.dataDir === undefined) await dropDatabase(ownStore['SERVICE_MONGODB_URL']);
  });
  return service;
}

class RunningService implements Service {
  readonly url: string;
  readonly log: LogLine[] = [];
  readonly primary: ChildProcess;
  readonly port: number;
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly #watchers = new Set<() => void>();
  readonly #ended: Promise<number | NodeJS.Signals | null>;
  #stdout = '';
  #stderr = '';

  constructor(
    primary: ChildProcess,
    port: number,
    dataDir: string,
    environment: Readonly<Record<string, string>>,
  ) {
    this.primary = primary;
    this.port = port;
    this.dataDir = dataDir;
    this.environment = environment;
    this.url = `http://127.0.0.1:${port}`;
    this.#ended = new Promise((resolve) =>
      primary.once('exit', (code, signal) => resolve(code ?? signal)),
    );
    if (primary.stdout !== null) {
      createInterface({ input: primary.stdout }).on('line', (line) => this.#read(line));
    }
    primary.stderr?.on('data', (text) => {
      this.#stderr += text;
    });
  }

  stdout = (): string => this.#stdout;
  stderr = (): string => this.#stderr;

  async waitForLog(fits: (line: LogLine) => boolean, withinMs = patienceMs): Promise<LogLine> {
    const look = () => this.log.find(fits);
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        action();
      };
      const watch = () => {
        const line = look();
        if (line !== undefined) settle(() => resolve(line));
      };
      const complain = (why: string) =>
        reject(new Error(`${why}\n${this.#stderr}\n${this.#stdout.slice(-4_000)}`));
      const timer = setTimeout(
        () => settle(() => complain(`no such log line within ${withinMs} ms`)),
        withinMs,
      );
      this.#watchers.add(watch);
      void this.#ended.then(() => settle(() => complain('the service has ended')));
      watch();
    });
  }

  frontEnds(): number[] {
    const pids = this.log
      .filter((line) => line.msg === 'a front end listens')
      .map((line) => Number(line['child']));
    return pids.filter(isAlive);
  }

  async admin(...args: string[]): Promise<string> {
    const command = [...programArgs, join(dist, 'server/admin/main.js'), ...args];
    const { stdout } = await run(program, command, { cwd: this.dataDir, env: this.environment });
    return stdout.trim();
  }

  async project(...hosts: string[]): Promise<string> {
    const store = await joinStore(loadSettings(this.environment));
    try {
      const { _id: orgId } = await store.organisations.default();
      const allowedOrigins = [...new Set(['127.0.0.1', 'localhost', ...hosts])];
      const fields = { orgId, name: 'Test', origin: 'http://127.0.0.1/', allowedOrigins };
      return (await store.projects.create(fields))._id;
    } finally {
      await store.close();
    }
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
    this.primary.kill(signal);
    return this.#ended;
  }

  #read(line: string): void {
    this.#stdout += `${line}\n`;
    if (!line.startsWith('{')) return;
    this.log.push(JSON.parse(line));
    for (const watch of [...this.#watchers]) watch();
  }
}

/** Whether a process exists and is no zombie of ours. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
