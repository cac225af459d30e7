import { defaultOpsPort, type Settings } from '../contract/settings/table.ts';
import { AddressGuard } from '../pool/source/guard.ts';
import { NameResolver } from '../pool/source/resolver.ts';

/** The addresses that clients may name for callbacks: those of sources. */
export function callbackGuard(settings: Settings): AddressGuard {
  const { privateSources, sourcePorts, dnsServers, baseUrl, internalUrl } = settings;
  const { port, workerPort, opsPort } = settings;
  const names = new NameResolver({
    servers: dnsServers,
    searched: (name) => guard.names(name),
  });
  const guard: AddressGuard = new AddressGuard({
    privateSources,
    sourcePorts,
    own: { urls: [baseUrl, internalUrl], ports: [port, workerPort, opsPort ?? defaultOpsPort] },
    resolve: (name) => names.resolve(name),
  });
  return guard;
}
