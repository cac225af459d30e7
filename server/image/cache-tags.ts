import { hash } from 'node:crypto';
import { canonicalUrl } from '../../contract/hosts.ts';
import type { Inputs } from '../../pool/inputs.ts';
import type { Headers } from '../http/request.ts';
import { projectDigits } from './key.ts';

/**
 * A source or a layer's file as CDNs know it, equal for all notations of the URL. With the project,
 * so that a purge of one project leaves the images of others.
 */
export const cdnSourceTag = (project: string, url: URL): string =>
  `s-${hash('sha256', `${project} ${canonicalUrl(url).href}`, 'hex').slice(0, 30)}`;

/** All images of a project as CDNs know them: lower-case letters, digits and a hyphen, which every CDN accepts. */
export const cdnProjectTag = (project: string): string => `p-${projectDigits(project)}`;

/**
 * The headers by which a CDN finds the images of a purge.
 *
 * @param names in lower case. Those that end with `key`, as Surrogate-Key and xkey do, separate their tags by
 *   spaces, others by commas.
 */
export function cacheTagHeaders(
  names: readonly string[],
  project: string,
  inputs: Inputs,
): Headers {
  if (names.length === 0) return [];
  const tags = [cdnProjectTag(project), ...inputs.map(({ url }) => cdnSourceTag(project, url))];
  return names.map((name) => [name, tags.join(name.endsWith('key') ? ' ' : ',')]);
}
