import { hostSettings, listenFailureText } from '../contract/settings/listeners.ts';
import type { Setting } from '../contract/settings/setting.ts';
import { type Settings, settingsTable } from '../contract/settings/table.ts';
import { freePort } from '../server/operations.ts';

/** The ports of the service and its worker. */
const portSettings = { port: 'SERVICE_PORT', workerPort: 'SERVICE_WORKER_PORT' } as const;
const portNames = ['port', 'workerPort'] as const;

/** Whether the user sets a port. */
function isNamed(name: keyof typeof portSettings): boolean {
  const { variable, platformVariables = [] }: Setting<number> = settingsTable[name];
  return [variable, ...platformVariables].some(
    (candidate) => (process.env[candidate] ?? '') !== '',
  );
}

/**
 * Sets the variables of the ports in this process' environment. A port that the user does not set is the
 * default one, or a free one if another program listens on it.
 * @throws Error if a port that the user sets is not free
 */
export async function takeFreePorts(settings: Settings): Promise<void> {
  const getAddress = (name: keyof typeof portSettings) => ({
    host: settings[hostSettings[name]],
    port: settings[name],
  });
  const named = portNames.filter(isNamed);
  for (const name of named) {
    const address = getAddress(name);
    await freePort(address).catch((error) => {
      throw new Error(listenFailureText(portSettings[name], address, error) ?? error.message);
    });
  }
  const taken = new Set(named.map((name) => settings[name]));
  for (const name of portNames.filter((portName) => !named.includes(portName))) {
    const { host, port } = getAddress(name);
    const free = await freePort({ host, port: taken.has(port) ? 0 : port }).catch(() =>
      freePort({ host, port: 0 }),
    );
    process.env[portSettings[name]] = String(free);
    taken.add(free);
  }
}
