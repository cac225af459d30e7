import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from '../call-api.ts';
import { concurrently } from '../concurrently.ts';
import { processorMs } from '../servers/processes.ts';
import { deployService } from '../servers/service.ts';
import { ratios, spread } from './rounds.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { requestedQuality } from './sources.ts';

const measures = {
  'not modified': {
    what: 'processor time of a stale image whose origin answers 304, divided by that of a miss',
    unit: '×',
    goal: { atMost: 0.15 },
  },
  'same bytes': {
    what: 'processor time of a stale image whose origin sends the same bytes, divided by that of a miss',
    unit: '×',
    goal: { atMost: 0.25 },
  },
} as const satisfies Measures;

const sourceAgeMs = 1_000;
const clients = 8;

/** What the origin answers to a conditional request. */
type Answer = 'not modified' | 'same bytes';

export const freshness: Scenario = {
  title: 'Freshness',
  method:
    'Processor time of the service for requests of a project with a source age: misses of the photograph to 800 px as JPEG, and stale images of it, until their origin has answered whether the source has changed. Each image is of a source of its own.',
  measures,
  async run(bench: Bench<keyof typeof measures>) {
    const { photo } = bench.sources;
    const origin = await bench.open(startOrigin(await readFile(photo.file)));
    const service = await bench.open(deployService({ SERVICE_SOURCE_MIN_AGE_SECONDS: '1' }));
    const { key, project } = service.deployment;
    await callApi(service.url, key, 'PUT', `/projects/${project}/freshness`, {
      sourceAge: sourceAgeMs / 1_000,
      browserAge: null,
    });
    const count = bench.quick ? 20 : 200;
    const found: Record<Answer | 'miss', number[]> = {
      miss: [],
      'not modified': [],
      'same bytes': [],
    };
    for (let round = 0; round < bench.rounds; round++) {
      const first = unusedNumber();
      const urls = Array.from({ length: count }, (_, index) =>
        service.imageUrl({
          source: `${origin.url}/photo.jpg?n=${first + index}`,
          width: photo.width,
          format: 'jpeg',
          quality: requestedQuality,
        }),
      );
      const perImage = async (tier: 'miss' | 'memory') => {
        const before = await processorMs(service.pid ?? 0);
        const answers = origin.answers + count;
        await requestAll(urls, tier);
        while (origin.answers < answers) await sleep(10);
        // The last answer is being stored.
        await sleep(200);
        return ((await processorMs(service.pid ?? 0)) - before) / count;
      };
      found.miss.push(await perImage('miss'));
      for (const answer of ['not modified', 'same bytes'] as const) {
        origin.answer = answer;
        await sleep(2 * sourceAgeMs);
        found[answer].push(await perImage('memory'));
      }
    }
    for (const answer of ['not modified', 'same bytes'] as const) {
      const detail = `${spread(found[answer])} ms, a miss ${spread(found.miss)} ms`;
      bench.finding(answer, `${count} images`, ratios(found[answer], found.miss), detail);
    }
  },
};

/** Requests the images by several clients. @throws Error for one from another tier */
async function requestAll(urls: readonly string[], tier: string): Promise<void> {
  await concurrently(clients, urls, async (url) => {
    const response = await fetch(url);
    await response.arrayBuffer();
    const found = response.headers.get('x-cache');
    if (found !== tier) throw new Error(`${response.status} ${found} instead of ${tier}`);
  });
}

async function startOrigin(body: Buffer) {
  const etag = '"photo"';
  const server = createServer((request, response) => {
    origin.answers += 1;
    const isKnown = request.headers['if-none-match'] === etag;
    if (isKnown && origin.answer === 'not modified') response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const origin = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: 'not modified' as Answer,
    /** Answers so far. */
    answers: 0,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return origin;
}
