import { hash } from 'node:crypto';
import { ServiceError } from '../contract/errors.ts';
import { canonicalUrl } from '../contract/hosts.ts';
import { layerUrl, type Variant } from './variant.ts';

/** A file that an image is made of: its source, or the image or font of a layer. */
export interface Input {
  readonly url: URL;
  /** What a purge of the file names. */
  readonly tag: string;
  /** The index of its layer in the variant; null for the source. */
  readonly layer: number | null;
  /** Bytes of each version are fetched and cached on their own; null for none. */
  readonly version: string | null;
  /** The formats of fonts are not checked before they are used. */
  readonly isFont: boolean;
  /** Whether a canonical host may be fetched from; also called for every redirect. */
  readonly isAllowedHost: (host: string) => boolean;
}

/** All files of an image: its source, and those of the layers in their order. */
export type Inputs = readonly [source: Input, ...ofLayers: Input[]];

/** The tag of a source or a layer's file: 120 bits of its URL's SHA-256, equal for all notations of the URL. */
export function sourceTag(url: URL): string {
  return hash('sha256', canonicalUrl(url).href, 'hex').slice(0, 30);
}

const anyHost = () => true;

/**
 * The files of an image. The project configured the watermark's URL, so its host need not be on the allowlist.
 *
 * @param version of the source; null for none
 * @param isAllowedHost whether a canonical host is on the project's allowlist
 */
export function imageInputs(
  source: URL,
  version: string | null,
  { layers }: Pick<Variant, 'layers'>,
  isAllowedHost: Input['isAllowedHost'],
): Inputs {
  const ofSource = { url: source, tag: sourceTag(source), version, isFont: false, isAllowedHost };
  const ofLayers = (layers ?? []).flatMap((layer, index): Input[] => {
    const text = layerUrl(layer);
    if (text === null) return [];
    const url = new URL(text);
    const isFont = layer.kind === 'text';
    const isWatermark = layer.kind === 'image' && layer.isWatermark;
    const hosts = isWatermark ? anyHost : isAllowedHost;
    const tag = sourceTag(url);
    return [{ url, tag, layer: index, version: null, isFont, isAllowedHost: hosts }];
  });
  return [{ ...ofSource, layer: null }, ...ofLayers];
}

/** The input of a project's watermark, which is not yet one of an image. */
export const watermarkInput = (url: URL): Input => ({
  url,
  tag: sourceTag(url),
  layer: null,
  version: null,
  isFont: false,
  isAllowedHost: anyHost,
});

/** An error of a layer of a variant, which names the layer. */
export function errorOfLayer(
  { layers }: Variant,
  index: number,
  error: ServiceError,
): ServiceError {
  const layer = layers?.[index];
  return error.ofLayer(index, layer?.kind === 'image' && layer.isWatermark);
}

/** Whether an error of a fetch is a failure of its input or its origin, as `overloaded` is not. */
export const isInputFailure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code !== 'overloaded';

/** An error of the fetch of an input, which names the layer of the input if it is its failure. */
export function errorOfInput(variant: Variant, { layer }: Input, error: unknown): unknown {
  return layer !== null && isInputFailure(error) ? errorOfLayer(variant, layer, error) : error;
}
