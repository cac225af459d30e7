import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { newApiKey } from '../../store/identifiers.ts';
import { openStore } from '../../store/open.ts';
import { OpenResources } from '../open-resources.ts';
import type { Results } from '../report.ts';
import { startS3, variables } from '../servers/s3.ts';
import { ServiceProcess } from '../servers/service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { Client } from './client.ts';
import { type Link, startLink } from './link.ts';
import { type Pictures, startPictures, toImageUrl } from './pictures.ts';

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
