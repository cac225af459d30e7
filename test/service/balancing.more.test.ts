import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { hasHaproxy, startHaproxy } from '../../bench/fleet/fleet.ts';
import { installed, startServer } from '../../bench/servers/launch.ts';
import { hasNginx, startNginx } from '../../bench/servers/nginx.ts';
import type { Server } from '../../bench/servers/server.ts';
import { rootPath } from '../root.ts';
import { until } from '../until.ts';

const example = (name: string) => readFile(join(rootPath, 'docs/deploy', name), 'utf8');

/** Starts three servers in place of machines. They respond to image requests with their name. */
async function startMachines(t: Test) {
  const held: ServerResponse[] = [];
  const machines = ['one', 'two', 'three'].map((name) => {
    const server = createServer((request, response) => {
      if (request.url === '/api/ready') return response.writeHead(machine.ready ? 200 : 503).end();
      machine.requests += 1;
      machine.target = request.url ?? '';
      machine.headers = request.headers;
      response.setHeader('cache-control', 'no-store');
      response.setHeader('machine', name);
      if (request.url?.includes('held')) return held.push(response);
      return response.end();
    });
    server.listen(0, '127.0.0.1');
    const machine = {
      name,
      ready: true,
      requests: 0,
      target: '',
      headers: {},
      listening: once(server, 'listening'),
      get address() {
        return `127.0.0.1:${(server.address() as AddressInfo).port}`;
      },
      close: () => server.close().closeAllConnections(),
    };
    t.teardown(machine.close);
    return machine;
  });
  await Promise.all(machines.map(({ listening }) => listening));
  return { machines, held };
}

type Machines = Awaited<ReturnType<typeof startMachines>>['machines'];

const listAddresses = (machines: Machines) => machines.map(({ address }) => address);

/** Returns the responding machine. */
async function findMachine(url: string): Promise<string> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.headers.get('machine') ?? String(response.status);
}

const project = 'prj_32gx1acb9wtykf3m';
const sources = Array.from(
  { length: 200 },
  (_, n) => `https://shop${n % 7}.test/pictures/${n}.jpg`,
);

/** Returns the forms of a URL that every balancer reads. */
const createForms = (source: string) => [
  `/img/${source}?project=${project}&w=100`,
  `/img/${encodeURIComponent(source)}?w=200&project=${project}`,
  `/img/?url=${source}&project=${project}`,
  `/img?project=${project}&url=${encodeURIComponent(source)}&fmt=webp`,
  `/img/${encodeURIComponent(source)}?project=${project}&url=https://ignored.test/`,
];

/**
 * Checks that one machine gets all forms of a source.
 * @returns the machine per source
 */
async function findMachines(t: Test, { url }: Pick<Server, 'url'>, forms = createForms) {
  const found = new Map<string, string>();
  const apart: string[] = [];
  for (const source of sources) {
    const names: string[] = [];
    // Send requests one after another, because balancers can move concurrent requests to other
    // machines.
    for (const form of forms(source)) names.push(await findMachine(url + form));
    if (new Set(names).size !== 1) apart.push(`${source}: ${names}`);
    found.set(source, names[0] ?? '');
  }
  t.same(apart, [], 'sources whose forms have different machines');
  return found;
}

const shares = (found: ReadonlyMap<string, string>) =>
  ['one', 'two', 'three'].map(
    (name) => [...found.values()].filter((machine) => machine === name).length,
  );

t.test(
  'balances sources with HAProxy',
  { skip: !hasHaproxy && 'haproxy is not installed' },
  async (t) => {
    execFileSync('haproxy', ['-c', '-q', '-f', join(rootPath, 'docs/deploy/haproxy.cfg')]);
    const { machines, held } = await startMachines(t);
    const haproxy = await startHaproxy(await example('haproxy.cfg'), listAddresses(machines));
    t.teardown(() => haproxy.close());
    const { url } = haproxy;
    const machineNamed = (name: string) => machines.find((machine) => machine.name === name);

    await t.test('sends all spellings of a source to one machine', async (t) => {
      await findMachines(t, haproxy, (source) => {
        const own = `${source.replace('.jpg', '%20b+c.jpg')}?w=1&x=%C3%BC`;
        const direct = own.replace('?', '%3F').replace('&', '%26');
        return [
          `/img/${encodeURIComponent(own)}?project=${project}`,
          `/img/?url=${encodeURIComponent(own)}&project=${project}`,
          `/img/${encodeURIComponent(`${own}#part`)}?project=${project}`,
          `/img/${direct.replace('https://', 'HTTPS:/')}?project=${project}`,
        ];
      });
      await findMachines(t, haproxy, (source) => {
        const own = source.replace('.jpg', ';v=1.jpg');
        return [
          `/img/${own}?project=${project}`,
          `/img/?url=${own}&project=${project.replace('_', '%5F')}`,
          `/img/?a=1;url=b;project=c&url=${encodeURIComponent(own)}&project=${project}`,
        ];
      });
      await findMachines(t, haproxy, (source) => [
        `/img/${source}%zz?project=${project}`,
        `/img/${encodeURIComponent(`${source}%zz`)}?project=${project}`,
      ]);
    });

    const before = await findMachines(t, haproxy);
    for (const share of shares(before)) t.ok(share > 40, `${shares(before)}`);

    await t.test(
      "passes the unchanged request target and the client's address to the service",
      async (t) => {
        const source = sources[0] ?? '';
        const target = `/img/${encodeURIComponent(source)}?project=${project}&exp=1&sig=a%2Bb`;
        const machine = machineNamed(await findMachine(url + target));
        t.equal(machine?.target, target, 'signatures cover it');
        t.match(machine?.headers, { 'x-forwarded-for': '127.0.0.1' });
      },
    );

    await t.test('distributes other paths evenly', async (t) => {
      const counts = new Map<string, number>();
      for (let n = 0; n < 9; n++) {
        const name = await findMachine(`${url}/api/sdk/v1/projects?project=${project}`);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      t.same([...counts.values()], [3, 3, 3]);
    });

    await t.test('gives each machine at most 1.5 times the mean load', async (t) => {
      const target = `/img/https://e.test/held.jpg?project=${project}`;
      const own = machineNamed(await Promise.race([findMachine(url + target), released()]));
      const start = new Map(machines.map((machine) => [machine, machine.requests]));
      const all = Array.from({ length: 120 }, () => findMachine(url + target));
      await until('all have arrived', () => held.length === 120);
      const added = machines.map((machine) => machine.requests - (start.get(machine) ?? 0));
      const most = own === undefined ? 0 : (added[machines.indexOf(own)] ?? 0);
      t.ok(most >= 60 && most <= 92, `60, and half of 60 at most: ${added}`);
      for (const response of held.splice(0)) response.end();
      await Promise.all(all);

      /** Releases the first request; never resolves. */
      async function released(): Promise<never> {
        await until('the first', () => held.length === 1);
        for (const response of held.splice(0)) response.end();
        return new Promise(() => {});
      }
    });

    await t.test('moves only the sources of an unready machine', async (t) => {
      const two = machineNamed('two');
      if (two === undefined) return;
      two.ready = false;
      const own = sources.filter((source) => before.get(source) === 'two');
      await until('it gets no requests', async () => {
        const { requests } = two;
        for (const source of own) await findMachine(url + createForms(source)[0]);
        return two.requests === requests;
      });
      const after = await findMachines(t, haproxy);
      const moved = sources.filter((source) => after.get(source) !== before.get(source));
      t.same(moved, own);
      t.equal(new Set(own.map((source) => after.get(source))).size, 2, 'both others get some');
      two.ready = true;
      await until('they return', async () => {
        for (const source of own) {
          if ((await findMachine(url + createForms(source)[0])) !== 'two') return false;
        }
        return true;
      });
    });

    await t.test('serves all requests when a machine dies', async (t) => {
      const own = sources.find((source) => before.get(source) === 'three') ?? '';
      const inProgress = findMachine(`${url}/img/${own}?project=${project}&held`);
      await until('it has a request', () => held.length === 1);
      await machineNamed('three')?.close();
      await until('another machine has it', () => held.length === 2);
      held[1]?.end();
      t.not(await inProgress, 'three');
      const after = await findMachines(t, haproxy, (source) => createForms(source).slice(0, 1));
      const moved = sources.filter((source) => after.get(source) !== before.get(source));
      t.same(
        moved,
        sources.filter((source) => before.get(source) === 'three'),
      );
      t.same(new Set(after.values()), new Set(['one', 'two']));
    });
  },
);

t.test(
  'balances sources with nginx',
  { skip: !hasNginx && 'nginx is not installed' },
  async (t) => {
    const { machines } = await startMachines(t);
    const text = await example('nginx.conf');
    const nginx = await startNginx('nginx', (folder, port) =>
      text
        .replace('/var/cache/nginx/image-delivery', `${folder}/cache`)
        .replace(
          'server 127.0.0.1:3000;',
          listAddresses(machines)
            .map((address) => `server ${address};`)
            .join(' '),
        )
        .replace('listen 80;', `listen 127.0.0.1:${port};`),
    );
    t.teardown(() => nginx.close());
    const found = await findMachines(t, nginx);
    for (const share of shares(found)) t.ok(share > 40, `${shares(found)}`);
    const others = new Set<string>();
    await until('other paths go to all', async () => {
      others.add(await findMachine(`${nginx.url}/api/health`));
      return others.size === 3;
    });
  },
);

/** Returns the reason why this machine's Caddy cannot run the example, or false. */
function caddyProblem(): string | false {
  if (!installed('caddy')) return 'caddy is not installed';
  const version = execFileSync('caddy', ['version'], { encoding: 'utf8' });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const isNew = Number(major) > 2 || Number(minor) >= 8;
  return !isNew && `the example needs Caddy 2.8: ${version.trim()}`;
}

t.test('balances sources with Caddy', { skip: caddyProblem() }, async (t) => {
  const { machines } = await startMachines(t);
  const text = await example('Caddyfile');
  const caddy = await startServer(
    'caddy',
    (_, folder) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'config')],
    {
      files: (_, port) => ({
        config: `{\nadmin off\n}\n${text
          .replace('\nimages.example.com', `\nhttp://127.0.0.1:${port}`)
          .replace(
            'reverse_proxy 127.0.0.1:3000',
            `reverse_proxy ${listAddresses(machines).join(' ')}`,
          )}`,
      }),
    },
  );
  t.teardown(() => caddy.close());
  const found = await findMachines(t, caddy);
  for (const share of shares(found)) t.ok(share > 40, `${shares(found)}`);
  t.notOk(machines.some(({ headers }) => 'image-source' in headers));
});
