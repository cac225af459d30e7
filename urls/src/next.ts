import { parseQuery, readPathname } from './read.ts';
import {
  NativeQuery,
  type Source,
  sourceInvalid,
  sourceMissing,
  type Translation,
  type UrlDialect,
  UrlError,
} from './translation.ts';

/** The path of Next's optimiser, below the site's `basePath` if it sets one. */
const optimiser = /\/_next\/image\/?$/;
/** Next's own limit for `url`, in characters. */
const maxUrlLength = 3_072;
/** Next reads the first three; the last names the URL's deployment. */
const names = ['url', 'w', 'q', 'dpl'];

const invalid = (message: string) => new UrlError('parameter_invalid', message);

/** The URLs that `next/image` writes if no loader is set. */
export const next: UrlDialect = {
  title: "Next's optimiser",
  form: /\/_next\/image\/?\?/,
  translate,
};

function translate(path: string, query: string): Translation {
  if (!optimiser.test(path)) {
    throw sourceMissing('The host serves images at /_next/image only.');
  }
  const given = parseQuery(query);
  const ignored = new Set([...given.keys()].filter((name) => !names.includes(name)));
  const only = (name: 'url' | 'w' | 'q'): string => {
    const [value = '', ...others] = given.getAll(name);
    if (others.length > 0) throw invalid(`${name} is given more than once.`);
    if (value === '' && name !== 'url') throw invalid(`${name} is required.`);
    return value;
  };
  const source = readSource(only('url'));
  const native = new NativeQuery();
  native.set('url', 'dpr', 1);
  native.set('url', 'fmt', 'auto');
  for (const name of ['q', 'w'] as const) native.set(name, name, wholeNumber(name, only(name)));
  return { kind: 'image', source, query: native, ignored: [...ignored] };
}

/** Accepts leading zeros, like Next. */
function wholeNumber(name: string, text: string): string {
  if (!/^\d{1,9}$/.test(text)) throw invalid(`${name} must be a whole number.`);
  return String(Number(text));
}

function readSource(url: string): Source {
  if (url === '') throw sourceMissing('url is required.');
  if (url.length > maxUrlLength)
    throw sourceInvalid(`url has more than ${maxUrlLength} characters.`);
  if (/^\/[/\\]/.test(url)) throw sourceInvalid('url must not begin with two slashes.');
  const source = url.startsWith('/') ? { path: url } : { url };
  if (optimiser.test(readPathname(source))) {
    throw sourceInvalid('url must not be a URL of the optimiser itself.');
  }
  return source;
}
