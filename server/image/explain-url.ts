import { ServiceError } from '../../contract/errors.ts';
import type { Size } from '../../urls/src/index.ts';
import { canonicalName, readOptions } from './address.ts';
import { readRequestAddress } from './host-address.ts';
import { urlParameters } from './overlays.ts';
import { parameters } from './parameters.ts';
import type { Site } from './site.ts';
import { percentEncode, type SourceReference } from './source-url.ts';

/** The meaning of an image URL, including another service's. */
export interface ExplainedUrl {
  /** An absolute URL, or a path on the project's `origin`. */
  readonly source: string;
  /** The native URL from `/img/` on, or null if it depends on the unknown source size. */
  readonly native: string | null;
  readonly options: readonly ExplainedOption[];
  /** Names of the URL's options that have no effect. */
  readonly ignored: readonly string[];
}

interface ExplainedOption {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

/** Maximum length of a URL, in characters, as in requests. */
export const maxExplainedLength = 16_384;

const invalid = (message: string) => new ServiceError('source_invalid', message);

/** Names other than image parameters. */
const otherMeanings = new Map([
  ['exp', 'Expiry of the signature, in Unix seconds.'],
  ['sig', 'Signature of the URL.'],
]);

/** Returns null for an unknown name. */
function findMeaning(name: string): string | null {
  const canonical = canonicalName(name);
  if (canonical !== undefined) return parameters[canonical].meaning;
  if (name.startsWith('text.')) return 'The text of the text layer with this name.';
  const part = Object.hasOwn(urlParameters, name) ? urlParameters[name] : undefined;
  return part?.meaning ?? otherMeanings.get(name) ?? null;
}

/** Returns a source on an origin as a path, and others unchanged. */
function relativeTo(origin: string, source: SourceReference): string {
  const base = new URL(origin);
  if (!(source instanceof URL) || source.origin !== base.origin) return source.href;
  const path = source.href.slice(base.origin.length);
  // Two slashes would start a host. URL parsers remove a dot segment between them.
  return path.startsWith('//') ? `/.${path}` : path;
}

/**
 * Explains a URL, its path and query, as a delivery host reads it, without checking signatures.
 * @param site the host, which sets the URL kind and the base of relative sources
 * @param size the upright source size, or null if unknown
 * @throws ServiceError source_invalid, source_missing, parameter_invalid
 */
export function explainUrl(text: string, site: Site, size: Size | null): ExplainedUrl {
  if (text.length > maxExplainedLength) {
    throw invalid(`The URL has more than ${maxExplainedLength} characters.`);
  }
  const match = /^(?:https?:\/\/[^/?#\s]+)?(\/[^?#\s]*)(?:\?([^#\s]*))?(?:#\S*)?$/i.exec(
    text.trim(),
  );
  if (match === null) throw invalid('The URL must be absolute, or start with a slash.');
  const [, path = '', query = ''] = match;
  const address = readRequestAddress(path, query, site);
  const { source, unknown } = address;
  if (address.kind === 'redirect') {
    throw invalid(`The URL leads to no image: it redirects to ${address.location}.`);
  }
  const written = site.host.base === null ? relativeTo(site.project.origin, source) : source.href;
  if (address.kind === 'needsSize' && size === null) {
    return { source: written, native: null, options: [], ignored: unknown };
  }
  const sized =
    address.kind === 'needsSize' && size !== null
      ? address.resolve(size, { origin: '', accept: '' })
      : address;
  if (sized.kind === 'document') throw invalid('The URL leads to a document, not an image.');
  const options = [...sized.parameters]
    .flatMap(([name, value]) => {
      const meaning = findMeaning(name);
      return meaning === null ? [] : [{ name, value, meaning }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  readOptions(new Map(options.map(({ name, value }) => [name, value])));
  const pairs = options.map(({ name, value }) => `&${percentEncode(name)}=${percentEncode(value)}`);
  return {
    source: written,
    native: `/img/${percentEncode(written)}?project=${site.project._id}${pairs.join('')}`,
    options,
    ignored: unknown,
  };
}
