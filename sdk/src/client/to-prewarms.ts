import { maxVariantCharacters, maxVariants, variantNames } from '../generated/prewarm.ts';
import type { PrewarmInput, PrewarmVariant } from '../generated/schemas.ts';
import type { Picture } from '../interface.ts';
import { readUrl, toText } from '../url-text.ts';

/** The URLs in the attributes of a `picture` element, as `createImageUrls` creates them. */
export interface PictureUrls {
  readonly sources: readonly Pick<Picture['sources'][number], 'srcset'>[];
  readonly img: Pick<Picture['img'], 'src' | 'srcset'>;
}

/** Prewarming cannot express an image that the picture requests. Nothing was queued. */
export class NotPrewarmableError extends Error {
  override readonly name = 'NotPrewarmableError';
  /** The URLs, each with all reasons. */
  readonly urls: readonly { readonly url: string; readonly reasons: readonly string[] }[];

  constructor(urls: NotPrewarmableError['urls']) {
    const reasons = [...new Set(urls.flatMap((entry) => entry.reasons))];
    const more = reasons.length > 5 ? `; and ${reasons.length - 5} more reasons` : '';
    super(
      `Prewarming cannot express ${urls.length} URLs of the picture: ${reasons.slice(0, 5).join('; ')}${more}.`,
    );
    this.urls = urls;
  }
}

export type Prewarm = PrewarmInput & { readonly projectId: string };

/** A source's images. */
interface Group {
  readonly projectId: string;
  readonly src: string;
  readonly variants: PrewarmVariant[];
}

/**
 * Returns prewarm requests for exactly the images that a picture requests, without duplicates. An
 * image with `fmt=auto` has a version per format in SERVICE_AUTO_FORMATS and another for other
 * browsers; a browser requests a single version.
 *
 * @throws NotPrewarmableError
 */
export function toPrewarms({ sources, img }: PictureUrls): Prewarm[] {
  const sets = [...sources.map(({ srcset }) => srcset), img.srcset ?? ''];
  const candidates = sets
    .flatMap((set) => set.split(/,\s+/))
    .map((entry) => entry.trim().split(/\s/)[0]);
  const refused: { url: string; reasons: readonly string[] }[] = [];
  const groups = new Map<string, Group>();
  for (const url of new Set([...candidates, img.src])) {
    // Browsers request nothing for such a URL.
    if (url === undefined || /^(?:(?:data|blob):|$)/i.test(url)) continue;
    const reasons = add(url, groups);
    if (reasons.length > 0) refused.push({ url, reasons });
  }
  if (refused.length > 0) throw new NotPrewarmableError(refused);
  return [...groups.values()].flatMap(createRequests);
}

/** Adds an image to its group, unless there are reasons not to. @returns the reasons */
function add(url: string, groups: Map<string, Group>): readonly string[] {
  const image = readImage(url);
  if (image === null) return ['a URL is not an image of the service'];
  const { projectId, src, variant } = image;
  const reasons = [...refusals(variant), ...image.reasons];
  if (reasons.length > 0) return reasons;
  const key = JSON.stringify([projectId, src]);
  const group: Group = groups.get(key) ?? { projectId, src, variants: [] };
  groups.set(key, group);
  group.variants.push(variant);
  return [];
}

/** The parts of an image URL with its source in the path, or null. */
function readImage(url: string) {
  const [, rest = ''] = /^[^?#]*?\/img\/(https?(?::|%3a).*)$/i.exec(url) ?? [];
  try {
    const { src, project: projectId, options } = readUrl(rest);
    if (src === '' || src === null || projectId === null) return null;
    const given = Object.entries(options)
      .filter(([name]) => variantNames.includes(name))
      .map(([name, value]) => [name, Array.isArray(value) ? toText(value) : value]);
    const hasTexts = Object.keys(options).some((name) => name.startsWith('text.'));
    const reasons = hasTexts ? ['it replaces the text of a layer'] : [];
    return { src, projectId, variant: Object.fromEntries(given) as PrewarmVariant, reasons };
  } catch {
    // Malformed percent-encoding.
    return null;
  }
}

/** Why prewarming cannot express an image. */
function refusals(variant: PrewarmVariant): string[] {
  const { w, h, dpr, preset } = variant;
  const hasSize = w !== undefined || h !== undefined || preset !== undefined;
  const isLong = JSON.stringify([variant]).length > maxVariantCharacters;
  return [
    ...(hasSize ? [] : ['without w, h and preset, client hints decide the size']),
    ...(/^auto$/i.test(String(dpr)) ? ['with dpr=auto, client hints decide the size'] : []),
    ...(isLong ? [`its parameters have more than ${maxVariantCharacters} characters`] : []),
  ];
}

/** Returns the fewest requests for a group, in the order of its variants. */
function createRequests({ projectId, src, variants }: Group): Prewarm[] {
  const requests: PrewarmVariant[][] = [];
  for (const variant of variants) {
    const last = requests.at(-1) ?? [];
    const all = [...last, variant];
    const fits = all.length <= maxVariants && JSON.stringify(all).length <= maxVariantCharacters;
    if (fits && last.length > 0) last.push(variant);
    else requests.push([variant]);
  }
  return requests.map((some) => ({ projectId, src, variants: some }));
}
