import { ServiceError } from '../../contract/errors.ts';
import { nearestName } from '../../contract/near-miss.ts';
import { isParameter, parameterSpellings } from './options.ts';
import { readSource } from './source-url.ts';

/** The project, source and parameters of a transform URL. */
export interface Address {
  readonly projectId: string;
  readonly source: URL;
  /** Every query parameter but `url` and `project`, each name once. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The part of the path before the source. */
export const imagePrefix = '/img/';

/**
 * Reads `/img/<source_url>?project=…` and `/img/?url=…&project=…` (spec 4.3).
 * @throws ServiceError source_missing, project_missing, source_invalid, parameter_invalid
 */
export function readAddress(path: string, query: string): Address {
  const parameters = readQuery(query);
  const written = sourceInPath(path) ?? parameters.get('url') ?? '';
  const projectId = parameters.get('project') ?? '';
  if (written === '') throw new ServiceError('source_missing', 'The source URL is missing.');
  if (projectId === '')
    throw new ServiceError('project_missing', 'The project parameter is missing.');
  parameters.delete('url');
  parameters.delete('project');
  return { projectId, source: readSource(written), parameters };
}

/** Names that the endpoint reads beside the transform parameters. */
const ownNames = new Set(['url', 'project', 'exp', 'sig']);
const knownNames = [...ownNames, ...parameterSpellings];

/** More than there are parameters, with those that caches and trackers add. */
const maxParameters = 100;
export const tooManyParameters = `The query has more than ${maxParameters} parameters.`;

/** Counted before the query is split: each parameter takes time, and a head has room for thousands. */
export function hasTooManyParameters(query: string): boolean {
  let count = 1;
  for (let at = query.indexOf('&'); at !== -1; at = query.indexOf('&', at + 1)) {
    count += 1;
    if (count > maxParameters) return true;
  }
  return false;
}

/**
 * Rejects a parameter that is given twice: a proxy, a cache or the signature check may read the other
 * value; and a misspelt one, without which the image would be another than the one that was meant.
 * Other unknown parameters are ignored, so they may repeat.
 */
function readQuery(query: string): Map<string, string> {
  if (hasTooManyParameters(query)) {
    throw new ServiceError('parameter_invalid', tooManyParameters);
  }
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = ownNames.has(name) || isParameter(name);
    if (known && parameters.has(name)) {
      throw new ServiceError('parameter_invalid', `${name} is given more than once.`);
    }
    const intended = known ? undefined : nearestName(name, knownNames);
    if (intended !== undefined) {
      throw new ServiceError(
        'parameter_invalid',
        `${name} is not a parameter. Did you mean ${intended}?`,
      );
    }
    parameters.set(name, value);
  }
  return parameters;
}

/**
 * The source in the path: written directly when it starts with a scheme and a slash, else encoded
 * as a whole and decoded once. Null when the path holds none.
 * @throws ServiceError source_invalid
 */
export function sourceInPath(path: string): string | null {
  const text = path.slice(imagePrefix.length);
  if (text === '') return null;
  if (/^https?:\//i.test(text)) {
    // Proxies that normalise paths turn `//` into `/`.
    return text.replace(/^(https?):\/(?!\/)/i, '$1://');
  }
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ServiceError('source_invalid', 'The source URL in the path is not encoded properly.');
  }
}
