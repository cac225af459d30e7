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

/** Whether a text is an absolute http or https URL. */
export function isSource(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
