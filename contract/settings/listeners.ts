import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Maps each listener's port setting to its host setting: public, operations, worker. */
export const hostSettings = { port: 'host', opsPort: 'opsHost', workerPort: 'workerHost' } as const;

const loopbacks: readonly string[] = ['127.0.0.1', '::1'];

/** Returns a host to listen on: `::` includes IPv4, and becomes `0.0.0.0` without IPv6. */
export const toListenHost = (host: string, isIpv6Known = hasIpv6): string =>
  host === '::' && !isIpv6Known() ? '0.0.0.0' : host;

/**
 * Returns false in a kernel or a sandbox (`RestrictAddressFamilies`) that refuses IPv6 sockets, where
 * Node listens on IPv4 if no host is given. With `disable_ipv6` a socket still listens on `::`.
 */
function hasIpv6(): boolean {
  // Listens before it returns, and closes before it could accept.
  const probe = createServer().on('error', () => {});
  const address = probe.listen({ port: 0, exclusive: true }).address();
  probe.close();
  return address === null || typeof address === 'string' || address.family === 'IPv6';
}

/**
 * Returns the addresses to listen on: for `localhost`, those that this machine has. Its name can
 * resolve to one of them only, or to one that it lacks.
 */
export function toListenAddresses(host: string): readonly string[] {
  if (host !== 'localhost') return [host];
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const found = loopbacks.filter((loopback) => own.some(({ address }) => address === loopback));
  return found.length === 0 ? loopbacks.slice(0, 1) : found;
}

/** Returns the URLs at which this machine reaches a listener, most likely first, without a path. */
export function listenerUrls(host: string, port: number): readonly string[] {
  const addresses: Readonly<Record<string, readonly string[]>> = {
    '0.0.0.0': ['127.0.0.1'],
    '::': loopbacks,
    localhost: loopbacks,
  };
  return (addresses[host] ?? [host]).map(
    (address) => `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
  );
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
