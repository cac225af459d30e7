import { createImageUrls } from '../image-urls.ts';
import type { ImageUrlsOptions } from '../interface.ts';
import { type FrameworkOptions, imageOptions } from './image-options.ts';

/** An image's modifiers. Pass modifiers without a `NuxtImg` attribute in `modifiers`. */
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
 * Returns an image's URL. Enlarges images unless `enlarge` is false: browsers divide an image's
 * pixels by its `srcset` density, so that images from small sources would otherwise appear too
 * small.
 */
function getImage(src: string, { modifiers, ...settings }: ResolvedOptions): { url: string } {
  const { background, bg = background, enlarge = true, ...others } = modifiers;
  return { url: createImageUrls(settings).url(src, imageOptions({ ...others, bg, enlarge })) };
}

const provider = { getImage };

/** The provider, as `defineProvider` of `@nuxt/image` gives it. */
export default (): typeof provider => provider;
