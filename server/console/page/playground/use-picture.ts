import type { ImageFacts } from '@image-delivery/sdk';
import type { Project } from '@image-delivery/sdk/client';
import { useEffect, useMemo } from 'preact/hooks';
import { browsers, type ImageState, useImage, useSignPath } from '../api/image.ts';
import {
  imagePath,
  imageUrl,
  isSource,
  type PageImage,
  type ParameterTexts,
} from '../api/image-url.ts';
import { pickEffects } from '../api/openapi.ts';
import { keepPicture } from '../api/page-data.ts';
import { useApp } from '../app.ts';
import { toDefaults } from '../components/controls.tsx';
import type { PictureFacts } from './picture-code.ts';
import { factsOptions, type Known, snippets } from './snippets.ts';

/** A project's image, with facts and code. */
export type Picture = ReturnType<typeof usePicture>;

interface PictureRequest extends PageImage {
  /** Null if the key cannot read the project. */
  readonly known: Project | null;
  readonly accept: string;
  /** A new number reloads the image. */
  readonly loads?: number;
}

/** Stands in code for the site of a path, because visitors cannot read the project. */
const unknownSite = 'https://your-site.example';

/** The Accept header of a browser that lacks modern formats. */
export const [plainAccept] = browsers[2];

export function usePicture(request: PictureRequest) {
  const { known, source, project, options, accept, loads = 0 } = request;
  const { description } = useApp();
  const { baseUrl } = description;
  const isComplete = project !== '' && isSource(source);
  /** Returns this source's path with other options, or null before both fields are complete. */
  const path = (wanted: ParameterTexts) =>
    isComplete ? imagePath({ source, project, options: wanted }) : null;
  const sign = useSignPath(known);
  const result = useImage(path(options), accept, sign, loads);
  useEffect(() => {
    // Even an image that fails: the user returns to it after allowing its host.
    if (isComplete) keepPicture({ project, source, options });
  }, [isComplete, project, source, options]);
  const facts = useImage(path(factsOptions(options, description)), plainAccept, sign);
  const text = facts.loaded?.text ?? null;
  /** Null until loaded. */
  const information = useMemo(
    () => (text === null ? null : (JSON.parse(text) as ImageFacts)),
    [text],
  );
  const site = known?.origin ?? (URL.canParse(source) ? source : unknownSite);
  const image = { source, project, options };
  const signedPath = sign === null ? null : (result.loaded?.signedPath ?? null);
  const code = snippets(
    baseUrl,
    image,
    accept,
    findKnown(result, facts, information, {
      site: URL.canParse(site) ? new URL(site).origin : site,
      dpr: Number(options['dpr']) || (toDefaults(known)['dpr'] ?? 1),
      hasBorder: Object.keys(pickEffects(options, description, 'border')).length > 0,
      fit: known?.defaultFit === 'cover' ? undefined : known?.defaultFit,
    }),
  );
  return {
    source,
    options,
    result,
    information,
    factsFailure: facts.failure,
    url: signedPath === null ? imageUrl(baseUrl, image) : baseUrl + signedPath.slice(1),
    /** Whether the URL is signed and expires. */
    isSigned: signedPath !== null,
    snippets: known?.requireSignedUrls === true ? code.filter(({ signs }) => signs) : code,
    path,
    sign,
  };
}

/**
 * Returns the facts that snippets can use. While the next image is loading, facts about the
 * previous image do not apply.
 */
function findKnown(
  result: ImageState,
  facts: ImageState,
  information: ImageFacts | null,
  page: Pick<PictureFacts, 'site' | 'dpr' | 'fit' | 'hasBorder'>,
): Known {
  if (result.failure !== null || facts.failure !== null) return 'nothing';
  if (result.loading || facts.loading || result.loaded === null) return 'loading';
  if (information === null) return 'loading';
  const { loaded } = result;
  // A text, or an image that this browser cannot decode.
  if (loaded.width === 0) return 'nothing';
  const { width, height } = information.output;
  return { ...page, result: loaded, source: { ...information.source, width, height } };
}
