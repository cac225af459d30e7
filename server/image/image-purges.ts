import { hash } from 'node:crypto';
import { canonicalUrl } from '../../contract/hosts.ts';
import { objectPrefix } from '../../pool/cache/object-key.ts';
import type { ImageTags, Provenance } from '../../pool/image.ts';
import type { Inputs } from '../../pool/inputs.ts';
import { sourceTag } from '../../pool/inputs.ts';
import type { ImagePurges } from '../../pool/validity.ts';
import type { Project } from '../../store/projects.ts';
import { type Purges, renewBelow } from '../../store/purges.ts';
import type { Headers } from '../http/request.ts';
import { hasPrefix, keyPrefix } from './key.ts';

/**
 * A source or a layer's file as CDNs know it, equal for all notations of the URL. With the project,
 * so that a purge of one project leaves the images of others.
 */
export const cdnSourceTag = (project: string, url: URL): string =>
  `s-${hash('sha256', `${project} ${canonicalUrl(url).href}`, 'hex').slice(0, 30)}`;

/** All images of a project as CDNs know them: lower-case letters, digits and a hyphen, which every CDN accepts. */
export const cdnProjectTag = (project: string): string => `p-${keyPrefix(project)}`;

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

/** The number of the last purge that concerns an image; 0 for none. */
function lastPurge(purges: Purges | undefined, { inputs }: ImageTags): number {
  if (purges === undefined) return 0;
  const { all, sources } = purges;
  return Math.max(all, ...inputs.map((tag) => sources[tag] ?? 0));
}

/** Whether a project has purged an image of a cache. */
export function isPurged({ _id, purges }: Project, { tags, stamp }: Provenance): boolean {
  return tags.project === _id && stamp < lastPurge(purges, tags);
}

/**
 * The purges of an image, as a request knows them.
 *
 * @param latest returns the latest known state of the project
 */
export function imagePurges(tags: ImageTags, latest: () => Project): ImagePurges {
  const { purges } = latest();
  const validFrom = lastPurge(purges, tags);
  return {
    tags,
    validFrom,
    known: purges?.last ?? 0,
    renewBelow: renewBelowOf(purges),
    isCurrent: () => lastPurge(latest().purges, tags) <= validFrom,
  };
}

const renewals = new WeakMap<Purges, number>();

/** As `renewBelow`, once for each purge. */
function renewBelowOf(purges: Purges | undefined): number {
  if (purges === undefined) return 0;
  const known = renewals.get(purges) ?? renewBelow(purges);
  renewals.set(purges, known);
  return known;
}

/** A project, and the number of a purge whose images are deleted already. */
export interface PurgedProject {
  readonly project: Project;
  readonly since: number;
}

/** The purged images on the disk: which keys may be theirs, and which images they are. */
export function purgedFiles(
  purged: readonly PurgedProject[],
): [mayMatch: (key: string) => boolean, matches: (image: Provenance) => boolean] {
  const projects = new Map(purged.map(({ project }) => [project._id, project]));
  const prefixes = new Set(purged.flatMap(purgedPrefixes));
  const matches = (image: Provenance): boolean => {
    const project = projects.get(image.tags.project);
    return project !== undefined && isPurged(project, image);
  };
  return [(key) => hasPrefix(key, prefixes), matches];
}

function purgedPrefixes({ project, since }: PurgedProject): string[] {
  const { _id, watermarkUrl, layers = {}, purges } = project;
  const { all = 0, sources = {} } = purges ?? {};
  const tags = Object.keys(sources).filter((tag) => (sources[tag] ?? 0) > since);
  // Keys have no part for the watermark and layers.
  const files = Object.values(layers).map(({ image, text }) => image?.['url'] ?? text?.['fontUrl']);
  const urls = [watermarkUrl, ...files];
  const isDrawn = urls.some((url) => tags.includes(tagOf(url)));
  return all > since || isDrawn ? [keyPrefix(_id)] : tags.map((tag) => keyPrefix(_id, tag));
}

/** The tag of a stored URL; empty for none. */
const tagOf = (url: unknown): string =>
  typeof url === 'string' && URL.canParse(url) ? sourceTag(new URL(url)) : '';

/** Objects of the shared cache: those with a prefix that were written until a time, Unix ms. */
export interface PurgedObjects {
  readonly prefix: string;
  readonly before: number;
}

/**
 * The objects that the purges of a project after a number concern; a purge has the time of its number. Images with
 * a purged watermark are not among them.
 */
export function purgedObjects(
  { _id, purges, deletedAt = null }: Project,
  since: number,
): PurgedObjects[] {
  const { all = 0, sources = {} } = purges ?? {};
  // No image of a deleted project is valid, also if it was written later.
  const before = deletedAt === null ? all : Number.POSITIVE_INFINITY;
  const ofSources = Object.entries(sources).map(([tag, number]) => ({
    prefix: objectPrefix(_id, tag),
    before: number,
  }));
  return [{ prefix: objectPrefix(_id), before }, ...ofSources].filter(
    ({ before }) => before > since,
  );
}
