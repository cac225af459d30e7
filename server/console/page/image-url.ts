/** Values of transform parameters by name; '' for none. */
export type ParameterTexts = Readonly<Record<string, string>>;

/** The image of a request. */
export interface PageImage {
  readonly source: string;
  readonly project: string;
  readonly options: ParameterTexts;
}

/** The path and query of an image, without a leading slash. */
export function imagePath({ source, project, options }: PageImage): string {
  const given = Object.entries(options).filter(([, value]) => value !== '');
  const query = [['project', project], ...given].map(
    ([name, value]) => `${name}=${encodeValue(value ?? '')}`,
  );
  return `img/${encodeURIComponent(source)}?${query.join('&')}`;
}

/** Commas stay unencoded, because they are easier to read. */
const encodeValue = (value: string): string => encodeURIComponent(value).replaceAll('%2C', ',');

/** The URL of an image below the base URL of the service. */
export const imageUrl = (baseUrl: string, request: PageImage): string =>
  `${baseUrl}/${imagePath(request)}`;

/** Whether a text is an absolute http or https URL. */
export function isSource(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
