import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { loadSettings } from '../../contract/settings/load.ts';
import { takeFreePorts } from '../../demo/free-ports.ts';

const host = '127.0.0.1';
const hosts = { SERVICE_HOST: host, SERVICE_WORKER_HOST: host };

t.test('replaces a default port that is not free', async (t) => {
  const other = createServer().listen(0, host);
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const taken = String(port);
  /** Returns the chosen ports if both defaults are taken. */
  const choose = async (named: Record<string, string>) => {
    for (const name of ['PORT', 'SERVICE_PORT', 'SERVICE_WORKER_PORT']) {
      delete process.env[name];
      t.teardown(() => delete process.env[name]);
    }
    Object.assign(process.env, named);
    const ports = { SERVICE_PORT: taken, SERVICE_WORKER_PORT: taken };
    await takeFreePorts(loadSettings({ ...hosts, ...ports, ...named }));
    return [process.env['SERVICE_PORT'], process.env['SERVICE_WORKER_PORT']];
  };

  const [first = '', second = ''] = await choose({});
  t.equal(new Set([first, second, taken]).size, 3);
  const [named, beside] = await choose({ SERVICE_PORT: first });
  t.equal(named, first);
  t.not(beside, taken);
  const usual = { SERVICE_PORT: second, SERVICE_WORKER_PORT: second };
  process.env['SERVICE_WORKER_PORT'] = '';
  process.env['SERVICE_PORT'] = second;
  await takeFreePorts(loadSettings({ ...hosts, ...usual }));
  t.not(process.env['SERVICE_WORKER_PORT'], second, 'not the port of the other listener');

  const message = new RegExp(`SERVICE_WORKER_PORT ${taken} .* another program listens there`);
  await t.rejects(choose({ SERVICE_WORKER_PORT: taken }), { message });
  await t.rejects(choose({ PORT: taken }), { message: /^SERVICE_PORT .* another program/ });
});
