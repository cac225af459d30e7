/** Values of transform parameters by name; '' for none. */
export type Options = Readonly<Record<string, string>>;

/** An image, as a request names it. */
export interface Wanted {
  readonly source: string;
  readonly project: string;
  readonly options: Options;
}

/** The path and query of an image, without a slash at the beginning. */
export function imagePath({ source, project, options }: Wanted): string {
  const given = Object.entries(options).filter(([, value]) => value !== '');
  const query = [['project', project], ...given].map(
    ([name, value]) => `${name}=${encodeValue(value ?? '')}`,
  );
  return `img/${encodeURIComponent(source)}?${query.join('&')}`;
}

/** Commas separate the parts of a value, and are easier to read as they are. */
const encodeValue = (value: string): string => encodeURIComponent(value).replaceAll('%2C', ',');

/** The URL of an image below the base URL of the service. */
export const imageUrl = (baseUrl: string, wanted: Wanted): string =>
  `${baseUrl}/${imagePath(wanted)}`;

/** Whether a text is a URL that the service fetches. */
export function isSource(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
