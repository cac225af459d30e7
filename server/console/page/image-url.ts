import { createImageUrls, type ImageOptions, type ImageUrls } from '@image-delivery/sdk';

/** Values of transform parameters by name; '' for none. */
export type ParameterTexts = Readonly<Record<string, string>>;

export interface PageImage {
  readonly source: string;
  readonly project: string;
  readonly options: ParameterTexts;
}

/** The URLs of a project by the SDK. @param baseUrl '.' for URLs relative to the page */
const urlsOf = (baseUrl: string, project: string): ImageUrls =>
  createImageUrls({ baseUrl, project });

const readerBase = 'https://images.example';

/** The options of the SDK for texts that users enter, which the service may reject. */
export function imageOptions(texts: ParameterTexts): ImageOptions {
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  const query = new URLSearchParams([['project', 'p'], ...given]);
  const url = `${readerBase}/img/https://a.example/?${query}`;
  return urlsOf(readerBase, 'p').parse(url)?.options ?? {};
}

export const imageUrl = (baseUrl: string, { source, project, options }: PageImage): string =>
  urlsOf(baseUrl, project).url(source, imageOptions(options));

export const imagePath = (image: PageImage): string => imageUrl('.', image);

/**
 * Reads a URL of the service; null for any other text. The values are those of its query, and may be invalid.
 * @param bases the base URLs of the service, without a slash at the end
 */
export function readImageUrl(text: string, bases: readonly string[]) {
  if (!URL.canParse(text)) return null;
  const query = Object.fromEntries(new URL(text).searchParams);
  const { project = '' } = query;
  // Typed texts are not complete yet.
  if (!/^prj_\w{16}$/.test(project)) return null;
  for (const base of bases) {
    const parsed = urlsOf(base, project).parse(text);
    if (parsed !== null) return { source: parsed.src, project, query };
  }
  return null;
}

/** Whether a text is an absolute http or https URL. */
export function isSource(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
