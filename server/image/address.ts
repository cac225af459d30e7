import { ServiceError } from '../../contract/errors.ts';
import { KnownNames } from '../../contract/suggestion.ts';
import { isLayerText } from './layer-query.ts';
import { isParameter, parameterSpellings } from './options.ts';
import { readSourceReference, type SourceReference } from './source-url.ts';
import { isTracking, refuseUnknown } from './unknown-parameters.ts';

/** The project, source and parameters of a transform URL. */
export interface ImageAddress {
  readonly projectId: string;
  readonly source: SourceReference;
  /** Whether the source was encoded, so that it has its whole query. */
  readonly isEncoded: boolean;
  /** Query parameters except `url` and `project`. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The names of parameters that nobody knows: without those of trackers. */
  readonly unknown: readonly string[];
}

/** The part of the path before the source. */
export const imagePrefix = '/img/';

/**
 * Reads `/img/<source_url>?project=…` and `/img/?url=…&project=…`.
 * @throws ServiceError source_missing, project_missing, source_invalid, parameter_invalid
 */
export function readAddress(path: string, query: string): ImageAddress {
  const { parameters, unknown } = readQuery(query);
  const written = sourceInPath(path) ?? parameters.get('url') ?? '';
  const projectId = parameters.get('project') ?? '';
  if (written === '') throw new ServiceError('source_missing', 'The source URL is missing.');
  if (projectId === '') throw projectMissing(written, query);
  parameters.delete('url');
  parameters.delete('project');
  const isEncoded = !unencoded.test(path.slice(imagePrefix.length)) && !unencodedUrl.test(query);
  return { projectId, source: readSourceReference(written), isEncoded, parameters, unknown };
}

/** The start of a source that is not encoded, in the path and in the query. */
const unencoded = /^(?:https?:)?\//i;
const unencodedUrl = /(?:^|&)url=(?:https?:\/)?\//i;

/** @param source as written */
function projectMissing(source: string, query: string): ServiceError {
  const reason = /\?project=/.test(query)
    ? ' The URL has a second ?: encode the source URL, which has a query of its own.'
    : /[?&]project=/.test(source)
      ? ' It is a part of the source URL: encode only the source.'
      : '';
  return new ServiceError('project_missing', `The project parameter is missing.${reason}`);
}

/** Names that are not in the table of image parameters. */
const ownNames = new Set(['url', 'project', 'exp', 'sig']);
const knownNames = [...ownNames, ...parameterSpellings];
const misspeltNames = new KnownNames(knownNames);

/** Enough for all parameters and those that caches and trackers add. */
const maxParameters = 100;
export const tooManyParameters = `The query has more than ${maxParameters} parameters.`;

/** Checked before the query is parsed: a request's head has room for thousands of parameters. */
export function hasTooManyParameters(query: string): boolean {
  let count = 1;
  for (let at = query.indexOf('&'); at !== -1; at = query.indexOf('&', at + 1)) {
    count += 1;
    if (count > maxParameters) return true;
  }
  return false;
}

/**
 * Rejects repeated parameters, of which a proxy, a cache and the signature check may read different ones,
 * and misspelt ones. Other unknown parameters may repeat.
 */
function readQuery(query: string) {
  const invalid = (message: string) => new ServiceError('parameter_invalid', message);
  if (hasTooManyParameters(query)) throw invalid(tooManyParameters);
  const parameters = new Map<string, string>();
  const unknown = new Set<string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = ownNames.has(name) || isParameter(name) || isLayerText(name);
    if (known && parameters.has(name)) {
      throw invalid(`${name.slice(0, 60).toWellFormed()} is given more than once.`);
    }
    const near = known ? undefined : misspeltNames.nearest(name);
    if (near !== undefined) throw invalid(`${name} is not a parameter. Did you mean ${near}?`);
    if (!known && name !== '' && !isTracking(name)) unknown.add(name);
    parameters.set(name, value);
  }
  return { parameters, unknown: [...unknown] };
}

/** @throws ServiceError parameter_invalid for an address with unknown parameters */
export const requireKnown = ({ unknown }: ImageAddress): void => refuseUnknown(unknown, knownNames);

/**
 * The source in the path: unencoded if it starts with a scheme and a slash or with a slash, else encoded once as a
 * whole.
 * Null when the path has none.
 * @throws ServiceError source_invalid
 */
export function sourceInPath(path: string): string | null {
  const text = path.slice(imagePrefix.length);
  if (text === '') return null;
  if (unencoded.test(text)) {
    // Proxies that normalise paths turn `//` into `/`.
    return text.replace(/^(https?):\/(?!\/)/i, '$1://');
  }
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ServiceError('source_invalid', 'The source URL in the path is not encoded properly.');
  }
}
