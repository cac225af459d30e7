import { hostMatches } from '../../contract/hosts.ts';
import { type Address, within } from '../../contract/networks.ts';
import type { Ports, PrivateSource } from '../../contract/private-sources.ts';

const portsAllow = (ports: Ports, port: number | null): boolean =>
  port === null || ports === null || ports.includes(port);

/** Whether one of the sources names a host. @param port null for any port */
export function namesHost(
  sources: readonly PrivateSource[],
  host: string,
  port: number | null,
): boolean {
  return sources.some(
    (source) =>
      'hosts' in source && portsAllow(source.ports, port) && hostMatches([source.hosts], host),
  );
}

/** Whether one of the networks has an address. @param port null for any port */
export function hasAddress(
  sources: readonly PrivateSource[],
  address: Address,
  port: number | null,
): boolean {
  return sources.some(
    (source) =>
      'network' in source && portsAllow(source.ports, port) && within(address, [source.network]),
  );
}
