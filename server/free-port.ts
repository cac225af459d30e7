import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Checks that no program listens at an address: processes that share a port would not notice it.
 * @returns the port, a free one for 0
 * @throws Node's own error, such as EADDRINUSE
 */
export async function freePort({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<number> {
  const probe = createServer().listen({ host, port, exclusive: true });
  await once(probe, 'listening');
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return found;
}
