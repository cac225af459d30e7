import { ServiceError } from '../../contract/errors.ts';
import { type ImageAddress, isImagePath, isTracking, readAddress, readQuery } from './address.ts';
import { isForeign, type Site, sourceBelow } from './site.ts';
import type { UrlGrammar } from './urls/grammar.ts';
import { urlGrammars } from './urls/grammars.ts';

interface HostGrammar extends UrlGrammar {
  readonly kind: string;
}

const grammars: ReadonlyMap<string, HostGrammar> = new Map(
  Object.entries<UrlGrammar>(urlGrammars).map(([kind, grammar]) => [kind, { kind, ...grammar }]),
);

/**
 * Returns the host's grammar, or null if it reads native URLs. A later release might have stored
 * other kinds.
 */
function findGrammar(site: Site): HostGrammar | null {
  if (!isForeign(site)) return null;
  const { urls = '' } = site.host;
  const grammar = grammars.get(urls);
  if (grammar !== undefined) return grammar;
  throw new ServiceError(
    'source_invalid',
    `This release cannot read the URLs of the host: ${urls}.`,
  );
}

/**
 * Reads a delivery host's URL: `/products/coast.jpg?w=800`, with a source path relative to the
 * host's base, or `/img/…` as on other hosts, for the host's project.
 * @throws ServiceError as `readAddress`
 */
export function readHostAddress(path: string, query: string, site: Site): ImageAddress {
  const { _id: projectId } = site.project;
  if (isImagePath(path)) return readAddress(path, query, projectId);
  const grammar = findGrammar(site);
  const read =
    grammar === null ? readNative(path, query, site) : readForeign(grammar, path, query, site);
  return { projectId, host: site.host.host, grammar, isEncoded: true, ...read };
}

function readNative(path: string, query: string, site: Site) {
  const { parameters, unknown } = readQuery(query, site.project._id);
  return { parameters, unknown, source: sourceBelow(site, path) };
}

function readForeign(grammar: UrlGrammar, path: string, query: string, site: Site) {
  const { ignored, ...read } = grammar.read(path, query, site);
  return { ...read, unknown: ignored.filter((name) => name !== '' && !isTracking(name)) };
}
