import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Settings, settingRows } from '../../contract/settings/table.ts';
import { cannotListen } from '../../contract/start-failure.ts';

/** The listeners of every service. */
const listeners = [
  { name: 'port', variable: 'SERVICE_PORT', hostName: 'host' },
  { name: 'workerPort', variable: 'SERVICE_WORKER_PORT', hostName: 'workerHost' },
] as const;

/** Whether the user sets a port. */
function isNamed(name: (typeof listeners)[number]['name']): boolean {
  const setting = settingRows.find(([row]) => row === name)?.[1];
  return [setting?.variable, setting?.platformVariable].some(
    (variable) => variable !== undefined && (process.env[variable] ?? '') !== '',
  );
}

/**
 * Sets the variables of the ports in this process' environment. A port that the user does not set is the
 * default one, or a free one if another program listens on it.
 * @throws Error if a port that the user sets is not free
 */
export async function takeFreePorts(settings: Settings): Promise<void> {
  const taken = new Set<number>();
  const named = listeners.filter(({ name }) => isNamed(name));
  for (const one of named) {
    const address = { host: settings[one.hostName], port: settings[one.name] };
    await portAt(address).catch((error) => {
      throw new Error(cannotListen(one.variable, address, error));
    });
    taken.add(address.port);
  }
  for (const { name, variable, hostName } of listeners) {
    if (isNamed(name)) continue;
    const host = settings[hostName];
    const usual = taken.has(settings[name]) ? 0 : settings[name];
    const port = await portAt({ host, port: usual }).catch(() => portAt({ host, port: 0 }));
    process.env[variable] = String(port);
    taken.add(port);
  }
}

/** Checks that a port is free. @returns the port, a free one for 0 */
async function portAt(address: { host: string; port: number }): Promise<number> {
  const server = createServer().listen(address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
