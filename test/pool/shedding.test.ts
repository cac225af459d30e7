import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { onlyProcess } from '../../pool/coalescer.ts';
import { Engine } from '../../pool/engine.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { until } from '../until.ts';
import { startOrigin } from './source/origin.ts';
import { noise, variant } from './transform/pictures.ts';

t.test(
  'a full queue refuses before other processes and origins are asked, but no hits',
  async (t) => {
    const picture = await noise(1600, 1200).jpeg().toBuffer();
    const origin = await startOrigin(t, (_, response) => response.end(picture));
    const folder = await mkdtemp(join(temporaryRoot, 'cache-'));
    const joined: string[] = [];
    const settings = {
      ...{ threads: 1, queue: 0, costlyBytes: 1e9, fetchConcurrency: 8, memoryCacheBytes: 0 },
      ...{
        diskCacheFolder: folder,
        privateSources: ['127.0.0.1:*'],
        sourcePorts: null,
        dnsServers: null,
      },
      ...{
        sourceMaxBytes: 1e8,
        sourceHeldBytes: 1e9,
        sourceMaxPixels: 1e8,
        sourceTimeoutMs: 60_000,
      },
      processMemoryBytes: 2 ** 30,
      ...{ transformTimeoutMs: 60_000, own: { urls: [], ports: [1] } },
    };
    const engine = new Engine(settings, {
      coalescer: {
        join: (key, participant) => {
          joined.push(key);
          return onlyProcess.join(key, participant);
        },
      },
      disk: { stored() {}, read() {}, removed() {}, failed() {} },
      onMemoryHit() {},
      onRender() {},
      now: Date.now,
    });
    t.teardown(async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    });
    const key = (name: string) => name.padStart(64, '0');
    const get = (name: string, path: string, more = {}, project = 'a') =>
      engine.get(
        key(name),
        {
          ...{ project, source: origin.url(path), allowed: () => true, background: false },
          variant: variant({ width: 20, ...more }),
        },
        new AbortController().signal,
      );

    await get('1', '/1');
    await until('it is on the disk', async () => (await get('1', '/1')).tier === 'disk');
    const before = [...joined];
    const long = get('2', '/2', { width: null, formats: ['avif'], lossless: true });
    await until('it runs', () => engine.producer.transforms.stats().costlyBytes > 0);
    const requests = origin.requests.length;
    const refusals = engine.producer.refused;
    await t.rejects(get('3', '/3'), { code: 'overloaded' });
    t.same(joined, [...before, key('2')]);
    t.equal(origin.requests.length, requests);
    t.equal(engine.producer.refused, refusals + 1);
    t.equal((await get('1', '/1')).tier, 'disk');
    t.equal((await get('4', '/4', {}, 'b')).tier, 'miss', 'another project has a place');
    t.equal((await long).tier, 'miss');
  },
);
