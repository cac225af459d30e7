import { canonicalHostPattern } from './hosts.ts';
import { type Network, parseNetwork } from './networks.ts';

/** The ports of http and https. */
export const defaultPorts: readonly number[] = [80, 443];

/** Ports allowed for sources; null for all ports. */
export type Ports = readonly number[] | null;

/** An entry of SERVICE_PRIVATE_SOURCES: a network, or a host pattern in canonical form. */
export type PrivateSource = { readonly ports: Ports } & (
  | { readonly network: Network }
  | { readonly hosts: string }
);

/** Parses a port from 1 to 65,535; null for other texts. */
export function parsePort(text: string): number | null {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : null;
  return port !== null && port <= 65_535 ? port : null;
}

/**
 * Parses a network, an address or a host pattern, with an optional port or `:*` for all ports; the default
 * are the ports of http and https. An IPv6 address or network with a port is in brackets:
 * `[fd00::/8]:9000`. Null for other texts.
 */
export function parsePrivateSource(text: string): PrivateSource | null {
  const [, base = text, port] = /^(\[[^\]]*\]|[^:[\]]*):([^:]*)$/.exec(text) ?? [];
  const ports = port === undefined ? defaultPorts : readPorts(port);
  if (ports === undefined) return null;
  const network = parseNetwork(base.replace(/^\[(.*)\]$/, '$1'));
  if (network !== null) return { network, ports };
  const hosts = canonicalHostPattern(base);
  return hosts === null ? null : { hosts, ports };
}

function readPorts(text: string): Ports | undefined {
  if (text === '*') return null;
  const port = parsePort(text);
  return port === null ? undefined : [port];
}
