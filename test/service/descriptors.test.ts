import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { until } from '../until.ts';
import { eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';
import { parseMetrics } from './scrape.ts';
import { freePort, isAlive, startDelivery } from './service.ts';

/** prlimit changes the limits of a running process. */
const prlimitFailure =
  spawnSync('prlimit', ['--version']).status !== 0 && "there is no util-linux' prlimit";

t.test(
  'survives a lack of file descriptors, and replaces a front end that dies meanwhile',
  { skip: prlimitFailure },
  async (t) => {
    const opsPort = await freePort();
    const { service, origin, image } = await startDelivery(t, {
      environment: { SERVICE_OPS_PORT: String(opsPort) },
    });
    origin.serve('/a.jpg', await picture(20, 20));
    const { pid = 0 } = service.process;
    const [first = 0] = service.frontEnds();
    const limit = (descriptors: number, ...pids: number[]) =>
      pids.map((processId) =>
        spawnSync('prlimit', ['--pid', `${processId}`, `--nofile=${descriptors}:`]),
      );
    const [connection, operations] = await Promise.all(
      [service.port, opsPort].map((port) => StrictConnection.open(port)),
    );
    t.teardown(async () => [connection, operations].map((opened) => opened?.close()));
    // The service has accepted both connections.
    t.equal((await connection?.request('GET', '/api/ready'))?.status, 200);
    t.equal((await operations?.request('GET', '/metrics', { host: 'localhost' }))?.status, 200);
    limit(8, pid, first);
    const page = await connection?.request('GET', '/missing', { accept: 'text/html' });
    t.equal(page?.status, 404, 'also when the page of the error cannot be read');
    const failed = await connection?.request('GET', image('/a.jpg'));
    t.equal(failed?.status, 503);
    t.match(String(failed?.body), /"overloaded".*EMFILE/);
    t.match(failed?.headers.get('x-image-error'), /^overloaded; message="/);
    t.equal(origin.requests.get('/a.jpg'), undefined);
    const samples = await until('the timers have run', async () => {
      const metrics = await operations?.request('GET', '/metrics', { host: 'localhost' });
      return metrics?.body.includes('status="503"') && parseMetrics(String(metrics.body));
    });
    t.ok(Number(samples?.get('image_delivery_connections')) > 0);
    t.ok(Number(samples?.get('image_delivery_connection_limit')) >= 64);
    t.ok(isAlive(pid) && isAlive(first));
    limit(1_024, first);
    const fetched = await connection?.request('GET', image('/a.jpg'));
    t.equal(fetched?.status, 200, 'the failure is not remembered');
    process.kill(first, 'SIGKILL');
    await service.waitForLog(({ why }) => /could not be started .*EMFILE/.test(String(why)));
    limit(1_024, pid);
    await until('a replacement', () => service.frontEnds().length === 1);
    t.equal((await fetch(service.url + image('/a.jpg'))).status, 200);
  },
);

/** These descriptors allow 126 connections. */
const descriptors = 400;
const skipNetworks = process.platform !== 'linux' && 'other systems have one loopback address';

eachHttpServer(
  'serves a client next to idle connections from 200 networks',
  async (t, { environment }) => {
    const reason = prlimitFailure || skipNetworks;
    if (reason !== false) return t.comment(reason);
    const { service, origin, image } = await startDelivery(t, { environment, descriptors });
    origin.serve('/a.jpg', await picture(20, 20));
    const { port } = service;
    let ended = 0;
    const send = (localAddress: string) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
      t.teardown(() => socket.destroy());
      return socket.resume();
    };
    for (let index = 0; index < 600; index += 1) {
      send(`127.1.${index % 200}.1`).once('close', () => {
        ended += 1;
      });
    }
    await until('more than the limit are refused or closed', () => ended > 400);
    const statuses = new Set<string>();
    for (let request = 0; request < 50; request += 1) {
      const socket = send('127.0.0.3');
      socket.write(`GET ${image('/a.jpg')} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      let received = '';
      socket.on('data', (bytes) => {
        received += bytes;
      });
      await once(socket, 'close');
      statuses.add(received.slice(0, 12));
    }
    t.same([...statuses], ['HTTP/1.1 200']);
  },
);
