import { createImageUrls } from '../image-urls.ts';
import type { ImageUrlsOptions } from '../interface.ts';
import { type FrameworkOptions, imageOptions } from './image-options.ts';

/** The modifiers of an image. Those without an attribute of `NuxtImg` are written in its `modifiers`. */
export interface Modifiers extends FrameworkOptions {
  /** As `bg`. */
  readonly background?: string | undefined;
}

/** The `options` of the provider in the configuration of Nuxt. */
export interface ProviderOptions extends Pick<ImageUrlsOptions, 'baseUrl' | 'project' | 'origin'> {
  readonly modifiers?: Partial<Modifiers> | undefined;
}

/** What Nuxt gives a provider. */
export type ResolvedOptions = ProviderOptions & { readonly modifiers: Partial<Modifiers> };

/**
 * The URL of an image. Images are enlarged unless `enlarge` is false: browsers divide the pixels of an image by
 * the density that its `srcset` says, so that the image of a small source would be shown smaller otherwise.
 */
function getImage(src: string, { modifiers, ...settings }: ResolvedOptions): { url: string } {
  const { background, bg = background, enlarge = true, ...others } = modifiers;
  return { url: createImageUrls(settings).url(src, imageOptions({ ...others, bg, enlarge })) };
}

const provider = { getImage };

/** The provider, as `defineProvider` of `@nuxt/image` gives it. */
export default (): typeof provider => provider;
