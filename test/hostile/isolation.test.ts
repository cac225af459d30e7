import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { listen } from '../listen.ts';
import { startDnsServer } from '../pool/source/dns-server.ts';
import { get, type Sent } from '../service/held-reply.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { json, type Service, startService } from '../service/service.ts';
import { until } from '../until.ts';

/** Another project gets an uncached image during several attacks by one project. */

const maxBytes = 4_000_000;

const health = async (service: Service) =>
  (await json(await fetch(`${service.url}/api/health`))).checks;

t.test('keeps one project from denying another its images', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/small.jpg', await picture(1000, 700));
  origin.serve('/large.jpg', await picture(2600, 1700));
  let stalled = 0;
  origin.serve('/stalled.jpg', (_, response) => {
    response.setHeader('content-length', maxBytes);
    response.write(Buffer.alloc(maxBytes - 1_000), () => {
      stalled += 1;
    });
  });
  const silent = new Set<Socket>();
  const silentServer = createServer((socket) => {
    silent.add(socket.on('error', () => {}));
  });
  t.teardown(() => {
    for (const socket of silent) socket.destroy();
  });
  const silentPort = await listen(t, silentServer);
  const dns = await startDnsServer(t, (name, family) => {
    if (name.endsWith('.dead.test')) return 'silence';
    return { addresses: family === 4 ? ['127.0.0.1'] : [] };
  });
  const service = await startService(t, {
    environment: {
      SERVICE_POOL_THREADS: '1',
      SERVICE_FETCH_CONCURRENCY: '16',
      SERVICE_SOURCE_MAX_BYTES: String(maxBytes),
      SERVICE_SOURCE_HELD_BYTES: String(3 * maxBytes),
      SERVICE_DNS_SERVERS: dns.address,
    },
  });
  const attacker = await service.project('*.dead.test');
  const other = await service.project('*.live.test');
  const toUrl = (project: string, source: string, parameters: string) =>
    `${service.url}/img/${encodeURIComponent(source)}?project=${project}&${parameters}`;

  interface Attack {
    readonly sources: readonly string[];
    readonly parameters?: (index: number) => string;
    /** Resolves when the attack uses all resources that it can get. */
    readonly isActive: () => Promise<unknown>;
    /** Host of the other project's source image. */
    readonly host?: string;
  }

  let attacks = 0;

  async function attack(t: Test, { sources, parameters, isActive, host }: Attack) {
    let answered = 0;
    let refused = 0;
    attacks += 1;
    const sent: Sent[] = sources.map((source, index) =>
      get(toUrl(attacker, source, parameters?.(index) ?? 'w=10')),
    );
    for (const { response } of sent) {
      response.then(
        ({ status }) => {
          if (status !== 503) answered += 1;
          else refused += 1;
        },
        () => {},
      );
    }
    try {
      await isActive();
      const source = `http://${host ?? '127.0.0.1'}:${origin.port}/small.jpg?${attacks}`;
      const { status, body } = await get(toUrl(other, source, 'w=800&fmt=webp')).response;
      t.equal(status, 200);
      t.equal(body.toString('latin1', 8, 12), 'WEBP');
      t.equal(answered, 0, 'no response to the attack yet');
      return { held: sent.length - refused, refused };
    } finally {
      for (const { leave } of sent) leave();
    }
  }

  const over = () =>
    until('the attack has ended', async () => {
      const { sources } = await health(service);
      return sources.fetching === 0 && sources.heldBytes === 0;
    });

  await t.test('survives 64 requests to a silent port', async (t) => {
    const { held } = await attack(t, {
      sources: Array.from({ length: 64 }, (_, i) => `http://127.0.0.1:${silentPort}/${i}.jpg`),
      isActive: () =>
        until('the project uses all of its slots', async () => {
          const { sources } = await health(service);
          return silent.size === 12 && sources.fetching === 12 && sources.rejected === 52;
        }),
    });
    t.equal(held, 12, 'three quarters of 16');
    await over();
  });

  await t.test('survives downloads that stall before their end', async (t) => {
    const { refused } = await attack(t, {
      sources: Array.from({ length: 7 }, (_, i) => `${origin.url}/stalled.jpg?${i}`),
      isActive: () =>
        until('the bytes of one project are in use', async () => {
          const { sources } = await health(service);
          return stalled > 0 && sources.heldBytes >= maxBytes && sources.heldRejected > 0;
        }),
    });
    t.ok(refused > 0);
    const { sources } = await health(service);
    t.equal(sources.heldMaxBytes, 3 * maxBytes);
    await over();
  });

  await t.test('survives 12 names with silent DNS servers', async (t) => {
    await attack(t, {
      host: 'shop.live.test',
      sources: Array.from({ length: 12 }, (_, i) => `http://n${i}.dead.test:${origin.port}/a.jpg`),
      isActive: () =>
        until('all are being resolved', () => {
          const dead = dns.queries.filter((name) => name.endsWith('.dead.test'));
          return new Set(dead).size === 12;
        }),
    });
    await over();
  });

  await t.test('survives costly transforms in every thread and queue slot', async (t) => {
    const { held, refused } = await attack(t, {
      sources: Array.from({ length: 20 }, () => `${origin.url}/large.jpg`),
      parameters: (index) => `fmt=avif&lossless&hue=${index + 1}`,
      isActive: () =>
        until('the queue is full', async () => {
          const { transformQueue } = await health(service);
          return transformQueue.queued >= 15 && transformQueue.active >= 1;
        }),
    });
    t.ok(held >= 16, `${held} run or wait`);
    t.ok(refused >= 3, 'and the others were refused');
  });
});
