import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { newApiKey } from '../../store/identifiers.ts';
import { openStore } from '../../store/open.ts';
import { startS3 } from '../servers/s3.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { bucketSettings } from './bucket.ts';
import { Client } from './client.ts';
import { type Link, startLink } from './link.ts';
import { FleetMachine } from './machine.ts';
import { imagePathOf, type Pictures, startPictures } from './pictures.ts';

/** Three machines with one store and one bucket, behind a balancer. */
export interface Fleet {
  readonly machines: readonly FleetMachine[];
  readonly balancer: Balancer;
  readonly client: Client;
  readonly pictures: Pictures;
  /** Between the machines and the store. */
  readonly store: Link;
  /** Between the machines and the bucket. */
  readonly bucket: Link;
  /** The number of objects in the bucket. */
  objects(): number;
  /** Purges all images, by a request to one machine. */
  purge(machine: FleetMachine): Promise<void>;
  close(): Promise<void>;
}

/** The machines' names in the configuration of HAProxy. */
const names = ['s1', 's2', 's3'];

export async function startFleet(): Promise<Fleet> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const one of closing.splice(0).reverse()) await one();
  };
  const opened = async <T extends { close(): Promise<unknown> }>(starting: Promise<T>) => {
    const one = await starting;
    closing.push(() => one.close());
    return one;
  };
  try {
    const folder = await opened(temporaryFolder('fleet'));
    const pictures = await startPictures();
    closing.push(() => pictures.origin.close());
    const mongodbUrl = process.env['SERVICE_MONGODB_URL'] || null;
    const dataDir = join(folder.path, 'store');
    const store = await opened(openStore({ mongodbUrl, dataDir }, () => {}));
    await store.established();
    const key = newApiKey();
    const { _id: orgId } = await store.organisations.default();
    await store.keys.storeEnvironmentKey(key, orgId);
    const allowedOrigins = ['127.0.0.1'];
    const fields = { orgId, name: 'Fleet', origin: pictures.origin.url, allowedOrigins };
    const { _id: project } = await store.projects.create(fields);
    const storeLink = await opened(startLink(addressOf(store.url)));
    const bucket = await opened(startS3());
    const bucketLink = await opened(startLink({ host: '127.0.0.1', port: bucket.port }));
    const settings = {
      SERVICE_ROOT_API_KEY: key,
      SERVICE_MONGODB_URL: linkedUrl(store.url, storeLink.port),
      SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*',
      SERVICE_PROCESSES: '1',
      ...bucketSettings(bucket, bucketLink.port),
    };
    const machines = await Promise.all(
      names.map((name) => FleetMachine.create(name, folder.path, settings)),
    );
    for (const machine of machines) {
      closing.push(() => machine.stop());
      await machine.start();
    }
    const balancer = await opened(startBalancer(machines));
    const path = (variant: number) => imagePathOf(variant, pictures.origin.url, project);
    const client = new Client(balancer.url, path);
    closing.push(() => client.close());
    return {
      machines,
      balancer,
      client,
      pictures,
      store: storeLink,
      bucket: bucketLink,
      objects: () => bucket.objects.size,
      purge: (machine) => purge(machine, project, key),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The first server of a MongoDB URL. */
function addressOf(url: string) {
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

async function purge(machine: FleetMachine, project: string, key: string): Promise<void> {
  const response = await fetch(`${machine.url}/api/sdk/v1/projects/${project}/purge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ all: true }),
  });
  if (!response.ok) throw new Error(`the purge was not accepted: ${await response.text()}`);
}
