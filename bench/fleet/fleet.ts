import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import {
  type AddressInfo,
  connect,
  createServer,
  type NetConnectOpts,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import sharp from 'sharp';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { picture } from '../../demo/origin/pictures.ts';
import { newApiKey } from '../../store/identifiers.ts';
import { openStore } from '../../store/open.ts';
import { Generator, target } from '../load/generator.ts';
import type { Finished } from '../load/results.ts';
import type { Results } from '../report.ts';
import { OpenResources, temporaryFolder } from '../resources.ts';
import { installed, startServer } from '../servers/launch.ts';
import { startS3, variables } from '../servers/s3.ts';
import type { Server } from '../servers/server.ts';
import { ServiceProcess } from '../servers/service.ts';

/** Three machines with one store and one bucket, behind a balancer. */
export interface Fleet {
  /** Each is a service with its own data folder. */
  readonly machines: readonly ServiceProcess[];
  readonly balancer: Balancer;
  readonly client: Client;
  readonly pictures: Pictures;
  /** Between the machines and the store. */
  readonly store: Link;
  /** Between the machines and the bucket. */
  readonly bucket: Link;
  readonly project: string;
  /** The number of objects in the bucket. */
  objects(): number;
  close(): Promise<void>;
}

/** Inputs for a part of the benchmark. */
export interface FleetBench<M extends string = string> {
  readonly results: Results<M>;
  readonly fleet: Fleet;
  readonly variants: number;
  /** Each fault's duration. */
  readonly faultMs: number;
}

/** Deadline of a read from the bucket, in ms. */
export const deadlineMs = 300;

export async function startFleet(): Promise<Fleet> {
  const opened = new OpenResources();
  try {
    const folder = await opened.open(temporaryFolder('fleet'));
    const pictures = await opened.open(startPictures());
    const mongodbUrl = process.env['SERVICE_MONGODB_URL'] || null;
    const dataDir = join(folder.path, 'store');
    const store = await opened.open(openStore({ mongodbUrl, dataDir }, () => {}));
    await store.established();
    const key = newApiKey();
    const { _id: orgId } = await store.organisations.default();
    await store.keys.storeEnvironmentKey(key, orgId);
    const allowedOrigins = ['127.0.0.1'];
    const fields = { orgId, name: 'Fleet', origin: pictures.url, allowedOrigins };
    const { _id: project } = await store.projects.create(fields);
    const storeLink = await opened.open(startLink(parseAddress(store.url)));
    const bucket = await opened.open(startS3());
    const bucketLink = await opened.open(startLink({ host: '127.0.0.1', port: bucket.port }));
    const settings = {
      SERVICE_ROOT_API_KEY: key,
      SERVICE_MONGODB_URL: linkedUrl(store.url, storeLink.port),
      SERVICE_PROCESSES: '1',
      // The balancer detects within this time that the machine stops.
      SERVICE_DRAIN_DELAY_MS: '3000',
      ...variables,
      SERVICE_SHARED_CACHE_URL: bucket.url.replace(`:${bucket.port}`, `:${bucketLink.port}`),
      SERVICE_SHARED_CACHE_TIMEOUT_MS: String(deadlineMs),
    };
    const machines: ServiceProcess[] = [];
    for (const name of ['s1', 's2', 's3']) {
      const machine = ServiceProcess.create(join(folder.path, name), settings);
      machines.push(await opened.open(machine));
      await machines.at(-1)?.start();
    }
    const balancer = await opened.open(startBalancer(machines));
    const client = await opened.open(
      new Client((variant) => toImageUrl(variant, balancer.url, pictures.url, project)),
    );
    return {
      machines,
      balancer,
      client,
      pictures,
      store: storeLink,
      bucket: bucketLink,
      project,
      objects: () => bucket.objects.size,
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The first server of a MongoDB URL. */
function parseAddress(url: string) {
  const [{ host = '', port = 0, socketPath } = {}] = new MongoClient(url).options.hosts;
  return socketPath === undefined ? { host, port } : { path: socketPath };
}

/** The MongoDB URL with a port of 127.0.0.1 instead of its servers. */
function linkedUrl(url: string, port: number): string {
  const [, credentials = '', path = ''] = /^mongodb:\/\/([^@/]*@)?[^/?]*(.*)$/.exec(url) ?? [];
  const separator = path.includes('?') ? '&' : '?';
  const database = path.startsWith('/') ? path : `/${path}`;
  return `mongodb://${credentials}127.0.0.1:${port}${database}${separator}directConnection=true`;
}

/** HAProxy with the configuration of docs/deploy. */
export interface Balancer extends Server {
  /** Resolves when HAProxy sends requests to all machines. */
  untilAllUsed(): Promise<void>;
}

const published = new URL('../../../docs/deploy/haproxy.cfg', import.meta.url);

export async function startBalancer(
  machines: ReadonlyArray<{ readonly port: number }>,
): Promise<Balancer> {
  const socket = join(tmpdir(), `image-delivery-haproxy-${process.pid}`);
  const server = await startHaproxy(
    observed(await readFile(published, 'utf8'), socket),
    machines.map(({ port }) => `127.0.0.1:${port}`),
  );
  const used = async () => {
    const connection = connect(socket);
    await once(connection, 'connect');
    connection.end('show servers state images\n');
    // The sixth field is the state: 2 when the server runs.
    const states = (await text(connection)).split('\n').map((line) => line.split(' ')[5]);
    return states.filter((state) => state === '2').length;
  };
  const untilAllUsed = async () => {
    while ((await used()) < machines.length) await sleep(100);
  };
  await untilAllUsed();
  return { ...server, untilAllUsed };
}

/** Adds a socket that shows the machines' states, and the header X-Machine, which names the machine of a response. */
function observed(configuration: string, socket: string): string {
  return (
    configuration
      .replace(/^global$/m, `$&\n    stats socket ${socket} mode 600`)
      .replaceAll(/^backend images.*$/gm, '$&\n    http-response set-header X-Machine %s')
      // More connections need a higher limit of open files than many shells have.
      .replace(/^ *maxconn.*/m, '    maxconn 2000')
  );
}

export const hasHaproxy = installed('haproxy');

/**
 * Starts HAProxy with the example configuration of docs/deploy.
 * @param example the contents of docs/deploy/haproxy.cfg
 * @param addresses of its three machines, such as `127.0.0.1:3000`
 */
export const startHaproxy = (example: string, addresses: readonly string[]): Promise<Server> =>
  startServer(
    'haproxy',
    (_, folder) => ['haproxy', '-db', '-q', '-f', join(folder, 'haproxy.cfg')],
    {
      files: (_, port) => ({
        'haproxy.cfg': example
          .replace('bind :80', `bind 127.0.0.1:${port}`)
          .replaceAll(/10\.0\.0\.1([123]):3000/g, (_, id) => addresses[Number(id) - 1] ?? ''),
      }),
    },
  );

/** `slow` delays all bytes, `silent` drops all bytes, `refused` refuses connections. */
export type Fault = 'none' | 'slow' | 'silent' | 'refused';

/** A slow link's delay in each direction, ms. */
export const slowMs = 2_000;

/** A TCP port of 127.0.0.1 that forwards to a server, with faults. */
export interface Link {
  readonly port: number;
  /** Ends the open connections, except when the link becomes slow. */
  set(fault: Fault): Promise<void>;
  close(): Promise<void>;
}

export async function startLink(target: NetConnectOpts): Promise<Link> {
  const sockets = new Set<Socket>();
  let fault: Fault = 'none';
  const forward = (from: Socket, to: Socket) => {
    let previous: Promise<unknown> = Promise.resolve();
    from.on('data', (chunk) => {
      if (fault === 'silent') return;
      if (fault === 'slow') previous = Promise.all([previous, sleep(slowMs)]);
      previous = previous.then(() => to.writable && to.write(chunk));
    });
  };
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    forward(near, far);
    forward(far, near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const listen = (port: number) =>
    new Promise<void>((done, failed) => {
      server.once('error', failed).listen(port, '127.0.0.1', done);
    });
  const cut = async () => {
    const closed = server.listening ? new Promise((done) => server.close(done)) : null;
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async set(next) {
      fault = next;
      if (next === 'slow') return;
      await cut();
      if (next !== 'refused') await listen(port);
    },
    close: cut,
  };
}

/** Requests variants, by their numbers, over persistent connections. */
export class Client {
  readonly #generator = new Generator(30);
  readonly #toUrl: (variant: number) => string;

  constructor(toUrl: (variant: number) => string) {
    this.#toUrl = toUrl;
  }

  /** Requests each variant once, by several concurrent clients, and shows the progress. */
  async each(
    variants: readonly number[],
    progress: (text: string) => void,
  ): Promise<readonly Finished[]> {
    const left = variants.values();
    let count = 0;
    const { finished } = await this.#generator.send({
      next: () => this.#planned(left.next().value),
      pace: { clients: 12 },
      continues: () => true,
      onFinished: () => {
        count += 1;
        const step = Math.ceil(variants.length / 10);
        if (count % step === 0) progress(`${count} of ${variants.length} requests`);
      },
    });
    return finished;
  }

  /** Requests variants at a fixed rate, without waiting for earlier responses, until the signal aborts. */
  async atRate(
    rate: number,
    next: () => number,
    signal: AbortSignal,
  ): Promise<readonly Finished[]> {
    const { finished } = await this.#generator.send({
      next: () => this.#planned(next()),
      pace: { rate, firstDueAt: performance.now() },
      continues: () => !signal.aborted,
    });
    return finished;
  }

  #planned(variant: number | undefined) {
    if (variant === undefined) return null;
    return { ...target(this.#toUrl(variant), variant), headers: {} };
  }

  close(): Promise<void> {
    return this.#generator.close();
  }
}

export const isFailed = ({ status }: Finished): boolean => status !== 200;

/** The number of requests, and the five first kinds of failures with their numbers. */
export function failuresInWords(responses: readonly Finished[]): string {
  const counts = new Map<string, number>();
  for (const { status, failure, machine } of responses.filter(isFailed)) {
    const name = [status, failure, machine].filter(Boolean).join(' ');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const failures = [...counts].slice(0, 5).map(([name, count]) => `${count} x ${name}`);
  return [`${responses.length} requests`, ...failures].join('; ');
}

/** Variant widths per source, in pixels. */
const widths = Array.from({ length: 10 }, (_, index) => 40 + 30 * index);

/** How long a front end keeps a source's bytes, ms. */
const ttlRangeMs = 30_000;

export type Pictures = Awaited<ReturnType<typeof startPictures>>;

/** Starts an origin with small images, and can replace them all. */
export async function startPictures() {
  const resized = sharp(await picture('landscape.jpg')).resize(400);
  const versions = await Promise.all(
    [0, 120].map((hue) => resized.clone().modulate({ hue }).jpeg().toBuffer()),
  );
  const fetchedAt = new Map<number, number>();
  const repeated = new Map<number, number>();
  let total = 0;
  let version = 0;
  const origin = await serveBodies((path) => {
    const source = Number(path.slice(1));
    const now = performance.now();
    if (now - (fetchedAt.get(source) ?? -ttlRangeMs) < ttlRangeMs) {
      repeated.set(source, (repeated.get(source) ?? 0) + 1);
    }
    fetchedAt.set(source, now);
    total += 1;
    return versions[version];
  });
  return {
    ...origin,
    /** The number of fetches so far. */
    total: () => total,
    /** The number of fetches so far within 30 s of an earlier fetch of the same source, by its number. */
    repeated: repeated as ReadonlyMap<number, number>,
    /** Replaces every source's image. */
    replace() {
      version = 1;
    },
  };
}

/** Returns the number of a variant's source. */
export const toSourceNumber = (variant: number): number => Math.floor(variant / widths.length);

/** Returns a variant's URL; variants count from 0. */
export function toImageUrl(variant: number, service: string, origin: string, project: string) {
  const source = encodeURIComponent(`${origin}/${toSourceNumber(variant)}`);
  const width = widths[variant % widths.length];
  return `${service}/img/${source}?project=${project}&w=${width}&fmt=jpeg`;
}
