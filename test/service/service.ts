import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { loadSettings } from '../../contract/settings/load.ts';
import { joinStore } from '../../store/open.ts';
import { rootPath } from '../root.ts';
import { ownPorts } from '../runner/ports.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { startTestOrigin, type TestOrigin } from './origin.ts';
import { Program } from './program.ts';

const run = promisify(execFile);
const dist = join(rootPath, 'dist');

/** Node minus the test options, which production does not use. */
export const plainNode = ['env', '-u', 'NODE_OPTIONS', process.execPath] as const;
const [program, ...programArgs] = plainNode;

interface Teardown {
  teardown(action: () => unknown): void;
}

export interface ServiceOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Data folder of an earlier service; stays after the test. */
  readonly dataDir?: string;
  readonly port?: number;
  /** Folder of the built service. Default: this project's build. */
  readonly dist?: string;
  /** Limit on descriptors, which needs util-linux' prlimit. Default: the test process's limit. */
  readonly descriptors?: number;
}

/** A JSON body with no static type: the tests check its fields. */
// biome-ignore lint/suspicious/noExplicitAny: any other type would repeat the service's own
export async function json(response: { json(): Promise<unknown> }): Promise<any> {
  return response.json();
}

const [firstPort, endPort] = ownPorts();
const givenPorts = new Set<number>();

/**
 * Returns a different free port on each call.
 * @param count number of free ports from there, for a program that listens on several
 */
export async function freePort(count = 1): Promise<number> {
  const start = randomInt(firstPort, endPort - count + 1);
  const ports = Array.from({ length: count }, (_, index) => start + index);
  if (ports.some((port) => givenPorts.has(port))) return freePort(count);
  for (const port of ports) givenPorts.add(port);
  const areFree = (await Promise.all(ports.map(isFree))).every(Boolean);
  return areFree ? start : freePort(count);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (listens) await new Promise((done) => server.close(done));
  return listens;
}

/** Settings of a new database on the server of SERVICE_MONGODB_URL, if any. */
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

/** Starts the built service as processes; resolves when it is ready. */
export async function startService(t: Teardown, options: ServiceOptions = {}): Promise<Service> {
  const service = await launch(t, options);
  await service.waitForLog((line) => line.msg === 'service ready');
  return service;
}

export interface Delivery {
  readonly service: Service;
  readonly origin: TestOrigin;
  /** Id of a project with the origin on its allowlist. */
  readonly project: string;
  /** Returns the path and query of an image from the origin. */
  image(path: string, query?: string): string;
}

/** Starts the built service, an origin, and a project with the origin on its allowlist. */
export async function startDelivery(t: Teardown, options: ServiceOptions = {}): Promise<Delivery> {
  const origin = await startTestOrigin(t);
  const service = await startService(t, options);
  const project = await service.project();
  return { service, origin, project, image: countImages(origin, project) };
}

/** The path and query of an image. */
export const countImages =
  ({ url }: TestOrigin, project: string) =>
  (path: string, query = ''): string =>
    `/img/${url}${path}?project=${project}${query === '' ? '' : `&${query}`}`;

/** Starts the built service without waiting until it is ready. */
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
    SERVICE_PROCESSES: '1',
    SERVICE_OPS_PORT: '0',
    // Slow work on a busy machine is not an error here.
    SERVICE_SOURCE_TIMEOUT_MS: '100000',
    SERVICE_TRANSFORM_TIMEOUT_MS: '100000',
    SERVICE_PRIVATE_SOURCES: '127.0.0.0/8:*,localhost:*',
    ...ownStore,
    ...options.environment,
  };
  const main = join(options.dist ?? dist, 'server/main.js');
  const { descriptors } = options;
  const limited = descriptors === undefined ? [] : ['prlimit', `--nofile=${descriptors}`];
  const [command = program, ...args] = [...limited, program, ...programArgs, main];
  const primary = spawn(command, args, {
    // This folder contains no .env file.
    cwd: dataDir,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const service = new Service(primary, port, dataDir, environment);
  t.teardown(async () => {
    await service.end('SIGKILL');
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    if (options.dataDir === undefined) await dropDatabase(ownStore['SERVICE_MONGODB_URL']);
  });
  return service;
}

/**
 * Starts a built program, which ends with the test.
 * @param entry below the build's folder, such as `worker/main.js`
 * @param redirections of its output, as a shell reads them
 */
export function startProgram(
  t: Teardown,
  entry: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
  options: readonly string[] = [],
  redirections = '',
): Program {
  const command = [...plainNode, join(dist, entry), ...options];
  const child = spawn('sh', ['-c', `exec "$@" ${redirections}`, 'sh', ...command], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = new Program(child);
  t.teardown(() => started.end('SIGKILL'));
  return started;
}

/** The built service as processes; its program is the primary. */
export class Service extends Program {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;

  constructor(
    primary: ChildProcess,
    port: number,
    dataDir: string,
    environment: Readonly<Record<string, string>>,
  ) {
    super(primary);
    this.port = port;
    this.dataDir = dataDir;
    this.environment = environment;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Pids of the listening front ends, oldest first. */
  frontEnds(): number[] {
    const pids = this.logged('front end listening').map((line) => Number(line['child']));
    return pids.filter(isAlive);
  }

  /** Runs the admin command; resolves with its output. */
  admin(...args: string[]): Promise<string> {
    return this.adminWithInput('', ...args);
  }

  /** @param input the command's standard input */
  async adminWithInput(input: string, ...args: string[]): Promise<string> {
    const command = [...programArgs, join(dist, 'server/admin/main.js'), ...args];
    const running = run(program, command, { cwd: this.dataDir, env: this.environment });
    running.child.stdin?.end(input);
    return (await running).stdout.trim();
  }

  /**
   * Creates a project with 127.0.0.1, localhost and the given hosts on its allowlist, and returns
   * its id.
   */
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
}

/** Returns true if a process exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
