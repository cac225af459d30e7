import { hash } from 'node:crypto';
import { ServiceError } from '../contract/errors.ts';
import { canonicalUrl } from '../contract/hosts.ts';
import { layerUrl, type Variant } from './variant.ts';

/** An image's input file: its source, or a layer's image or font. */
export interface Input {
  readonly url: URL;
  /** The URL without parameters that do not identify the file. */
  readonly identity: URL;
  /** The file's name in purges. */
  readonly tag: string;
  /** The names of its parent folders in purges. */
  readonly folders: readonly string[];
  /** The index of its layer in the variant; null for the source. */
  readonly layer: number | null;
  /**
   * Each version's bytes are fetched and cached separately; null if the request names no version.
   */
  readonly version: string | null;
  /** Font formats are not checked before use. */
  readonly isFont: boolean;
  /** Returns whether a canonical host can be fetched from; also called for every redirect. */
  readonly isAllowedHost: (host: string) => boolean;
}

/** All files of an image: its source, then its layers' files in order. */
export type Inputs = readonly [source: Input, ...ofLayers: Input[]];

/**
 * Returns the tag of a source or a layer's file: 120 bits of its URL's SHA-256, equal for all
 * notations of the URL.
 */
export const sourceTag = (url: URL): string => canonicalTag(canonicalUrl(url));

const canonicalTag = ({ href }: URL): string => hash('sha256', href, 'hex').slice(0, 30);

/** Maximum parent folders that can be purged, the host's root included. */
export const maxFolders = 8;

/** Returns the tag of a folder: like a source's, with a slash before it. */
export const folderTag = (href: string): string => `/${hash('sha256', href, 'hex').slice(0, 30)}`;

/** Returns the tags of the parent folders of a canonical URL, the host's root first. */
function folderTags({ origin, pathname }: URL): readonly string[] {
  const tags: string[] = [];
  for (let end = 0; end !== -1 && tags.length < maxFolders; end = pathname.indexOf('/', end + 1)) {
    tags.push(folderTag(origin + pathname.slice(0, end + 1)));
  }
  return tags;
}

/** Returns a file's URLs and its names in purges. */
function namesOf(url: URL, identity: URL) {
  const canonical = canonicalUrl(identity);
  return { url, identity, tag: canonicalTag(canonical), folders: folderTags(canonical) };
}

const anyHost = () => true;

/**
 * Returns an image's files. The project configured the watermark's URL, so its host need not be
 * allowlisted.
 *
 * @param version the source's version, or null
 * @param isAllowedHost returns whether a canonical host is on the project's allowlist
 * @param identify returns a URL without parameters that do not identify its file
 */
export function imageInputs(
  source: URL,
  version: string | null,
  { layers }: Pick<Variant, 'layers'>,
  isAllowedHost: Input['isAllowedHost'],
  identify: (url: URL) => URL = (url) => url,
): Inputs {
  const ofSource = { ...namesOf(source, identify(source)), version, isFont: false, isAllowedHost };
  const ofLayers = (layers ?? []).flatMap((layer, index): Input[] => {
    const text = layerUrl(layer);
    if (text === null) return [];
    const url = new URL(text);
    const isFont = layer.kind === 'text';
    const isWatermark = layer.kind === 'image' && layer.isWatermark;
    const hosts = isWatermark ? anyHost : isAllowedHost;
    const file = { ...namesOf(url, identify(url)), version: null, isFont };
    return [{ ...file, layer: index, isAllowedHost: hosts }];
  });
  return [{ ...ofSource, layer: null }, ...ofLayers];
}

/** Returns the input of a project's watermark before an image uses it. */
export const watermarkInput = (url: URL): Input => ({
  ...namesOf(url, url),
  layer: null,
  version: null,
  isFont: false,
  isAllowedHost: anyHost,
});

/** Creates an error in a variant's layer, which names the layer. */
export function errorOfLayer(
  { layers }: Variant,
  index: number,
  error: ServiceError,
): ServiceError {
  const layer = layers?.[index];
  return error.ofLayer(index, layer?.kind === 'image' && layer.isWatermark);
}

/** Returns whether a fetch error is a failure of its input or origin, unlike `overloaded`. */
export const isInputFailure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code !== 'overloaded';

/** Converts an input's fetch error; names the input's layer if the layer failed. */
export function errorOfInput(variant: Variant, { layer }: Input, error: unknown): unknown {
  return layer !== null && isInputFailure(error) ? errorOfLayer(variant, layer, error) : error;
}
