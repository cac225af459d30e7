/** Maps each listener's port setting to its host setting: public, operations, worker. */
export const hostSettings = { port: 'host', opsPort: 'opsHost', workerPort: 'workerHost' } as const;

/** Returns a listener's URL on this machine, without a path. */
export function listenerUrl(host: string, port: number): string {
  const addresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const address = addresses[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const listenCauses: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or set another port',
  EADDRNOTAVAIL: 'it is not an address of this machine',
  EACCES: 'this user may not listen there; ports below 1024 need elevated privileges',
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
 */
export function listenFailureText(
  variable: `SERVICE_${string}PORT`,
  { host, port }: { readonly host: string; readonly port: number },
  error: unknown,
): string | null {
  if (!(error instanceof Error)) return null;
  const { code = '', syscall = '', message } = error as NodeJS.ErrnoException;
  if (!listenCalls.test(syscall)) return null;
  const hostVariable = variable.replace(/PORT$/, 'HOST');
  return `${variable} ${port} on ${host} (${hostVariable}) cannot be used: ${listenCauses[code] ?? message} (${code}).`;
}
