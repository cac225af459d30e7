import { createImageUrls, type ImageOptions, type ImageUrls } from '@image-delivery/sdk';
import type { Values } from './schema.ts';

/** Transform parameter values by name; '' if unset. */
export type ParameterTexts = Readonly<Record<string, string>>;

export interface PageImage {
  readonly source: string;
  readonly project: string;
  readonly options: ParameterTexts;
}

/** Returns the SDK's URL builder for a project. @param baseUrl '.' for URLs relative to the page */
export const createUrls = (baseUrl: string, project: string): ImageUrls =>
  createImageUrls({ baseUrl, project });

const readerBase = 'https://images.example';

/** Returns SDK options for user input, which the service can reject. */
export function imageOptions(texts: ParameterTexts): ImageOptions {
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  const query = new URLSearchParams([['project', 'p'], ...given]);
  const url = `${readerBase}/img/https://a.example/?${query}`;
  return createUrls(readerBase, 'p').parse(url)?.options ?? {};
}

export const imageUrl = (baseUrl: string, { source, project, options }: PageImage): string =>
  createUrls(baseUrl, project).url(source, imageOptions(options));

export const imagePath = (image: PageImage): string => imageUrl('.', image);

/**
 * Reads a URL of this service, or returns null. The values come from the query, and can be invalid.
 * @param bases the service's base URLs, without a trailing slash
 */
export function readImageUrl(text: string, bases: readonly string[]) {
  if (!URL.canParse(text)) return null;
  const query = Object.fromEntries(new URL(text).searchParams);
  const { project = '' } = query;
  // Incomplete input.
  if (!isProjectId(project)) return null;
  for (const base of bases) {
    const parsed = createUrls(base, project).parse(text);
    if (parsed !== null) return { source: parsed.src, project, query };
  }
  return null;
}

/** Returns an example of a source URL on a project's origin. */
export const exampleSource = (origin: string): string => `${origin.replace(/\/$/, '')}/photo.jpg`;

/** Returns whether a text is a complete project id. */
export const isProjectId = (text: string): boolean => /^prj_\w{16}$/.test(text);

/** Returns whether a text is an absolute http or https URL, or a path on the project's origin. */
export const isSource = (text: string): boolean => isPath(text) || isAbsolute(text);

const isPath = (text: string): boolean => /^\/(?![/\\])/.test(text);

const isAbsolute = (text: string): boolean => /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);

/** Returns a form's values with absolute `sources`, which can be paths on the project's origin. */
export function withAbsolute(values: Values, origin: string): Values {
  const sources = (values['sources'] ?? '').split(/\s+/);
  const absolute = sources.map((text) => (isPath(text) ? toAbsolute(text, origin) : text));
  return { ...values, sources: absolute.join('\n') };
}

/** Returns an image's absolute URL, or '' for an invalid text. @param text a URL or a path on the origin */
export function toAbsolute(text: string, origin: string): string {
  if (text === '' || isAbsolute(text)) return text;
  return URL.canParse(text, origin) ? new URL(text, origin).href : '';
}
