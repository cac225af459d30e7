/** Maps each listener's port setting to its host setting: public, operations, worker. */
export const hostSettings = { port: 'host', opsPort: 'opsHost', workerPort: 'workerHost' } as const;

/** A listener, named by its port setting. */
export type Listener = keyof typeof hostSettings;

/**
 * How far the option `--port` moves the ports of the other listeners: a second service on a machine
 * needs all of them to differ.
 */
const portOffsets = { opsPort: 2, workerPort: 1 } as const;

/** The ports of the other listeners of a command with the option `--port`. */
export function portsBeside(
  port: number,
  listeners: readonly Listener[],
): ReadonlyArray<readonly [listener: Listener, port: number]> {
  const others = listeners.filter((listener) => listener !== 'port');
  const ports = others.map((listener) => [listener, port + portOffsets[listener]] as const);
  return ports.filter(([, moved]) => moved <= 65_535);
}

/** Returns a listener's URL on this machine, without a path. */
export function listenerUrl(host: string, port: number): string {
  const addresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const address = addresses[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const listenCauses: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or set another port',
  EADDRNOTAVAIL: 'it is not an address of this machine',
  EACCES: 'the user may not listen there; ports below 1024 need a privilege',
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'the name could not be looked up',
  EAFNOSUPPORT: 'the system does not support this kind of address',
};

/** System calls of a listener. */
const listenCalls = /^(?:listen|bind\d?|getaddrinfo)$/;

/**
 * Describes in one sentence why a listener did not start: setting, address and cause. Returns null
 * for an unrelated error, such as a module that fails to load while the listener is being prepared.
 * @param variable the port's variable, such as `SERVICE_PORT`; the host's variable ends with HOST
 *   instead
 * @param movedBy the `--port` value if it set the port; null otherwise
 */
export function listenFailureText(
  variable: `SERVICE_${string}PORT`,
  { host, port, movedBy = null }: { host: string; port: number; movedBy?: number | null },
  error: unknown,
): string | null {
  if (!(error instanceof Error)) return null;
  const { code = '', syscall = '', message } = error as NodeJS.ErrnoException;
  if (!listenCalls.test(syscall)) return null;
  const hostVariable = variable.replace(/PORT$/, 'HOST');
  const origin = movedBy !== null ? ` (moved there by --port ${movedBy})` : '';
  return `${variable} ${port}${origin} on ${host} (${hostVariable}) cannot be used: ${listenCauses[code] ?? message} (${code}).`;
}
