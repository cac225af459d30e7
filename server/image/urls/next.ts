import { ServiceError } from '../../../contract/errors.ts';
import { parseQuery } from '../address.ts';
import { type Site, sourceBelow } from '../site.ts';
import { readSource } from '../source-url.ts';
import type { ReadUrl, UrlGrammar } from './grammar.ts';

/** The path of Next's optimiser, below the site's `basePath` if it sets one. */
const optimiser = /\/_next\/image\/?$/;
/** Next's own limit for `url`, in characters. */
const maxUrlLength = 3_072;
/** Next reads the first three; the last names the URL's deployment. */
const names = ['url', 'w', 'q', 'dpl'];

const invalid = (message: string) => new ServiceError('parameter_invalid', message);
const sourceInvalid = (message: string) => new ServiceError('source_invalid', message);

/** The URLs that `next/image` writes if no loader is set. */
export const next: UrlGrammar = {
  title: "Next's optimiser",
  read,
  examples: [
    {
      url: '/_next/image?url=%2Fa.jpg&w=640&q=75',
      native: 'dpr=1&fmt=auto&q=75&w=640',
      meaning: "A path below the host's `base`, in device pixels.",
      size: '640 × 400',
    },
    {
      url: '/_next/image?url=https%3A%2F%2Fshop.example%2Fa.jpg&w=256&q=50',
      native: 'dpr=1&fmt=auto&q=50&w=256',
      meaning: 'An absolute source, on an allowed host.',
      size: '256 × 160',
    },
    {
      url: '/docs/_next/image?url=%2Fa.jpg&w=3840&q=75&dpl=dpl_1',
      native: 'dpr=1&fmt=auto&q=75&w=3840',
      meaning: 'Below a `basePath`, with a deployment. Images are not scaled up.',
      size: '1600 × 1000',
    },
  ],
  notes: [
    '`url`, `w` and `q` are required, once each, as in Next.',
    "Every `w` from 1 to 10000 is valid, whatever Next's configuration allows.",
    "The format follows `Accept` and `SERVICE_AUTO_FORMATS`, not Next's `images.formats`.",
    'SVGs are drawn, and animations stay animated if the output format supports it; Next delivers both unchanged.',
    'Other parameters have no effect, as in Next, and `x-image-warnings` lists them.',
    'These URLs are unsigned: a project that requires signatures refuses them.',
  ],
};

function read(path: string, query: string, site: Site): ReadUrl {
  if (!optimiser.test(path)) {
    throw new ServiceError('source_missing', 'The host has images at /_next/image only.');
  }
  const given = parseQuery(query);
  const ignored = new Set([...given.keys()].filter((name) => !names.includes(name)));
  const only = (name: 'url' | 'w' | 'q'): string => {
    const [value = '', ...others] = given.getAll(name);
    if (others.length > 0) throw invalid(`${name} is given more than once.`);
    if (value === '' && name !== 'url') throw invalid(`${name} is required.`);
    return value;
  };
  const source = readNextSource(only('url'), site);
  const parameters = new Map([
    ['dpr', '1'],
    ['fmt', 'auto'],
    ['q', wholeNumber('q', only('q'))],
    ['w', wholeNumber('w', only('w'))],
  ]);
  return { source, parameters, ignored: [...ignored] };
}

/** Accepts leading zeros, like Next. */
function wholeNumber(name: string, text: string): string {
  if (!/^\d{1,9}$/.test(text)) throw invalid(`${name} must be a whole number.`);
  return String(Number(text));
}

function readNextSource(url: string, site: Site): URL {
  if (url === '') throw new ServiceError('source_missing', 'url is required.');
  if (url.length > maxUrlLength)
    throw sourceInvalid(`url has more than ${maxUrlLength} characters.`);
  if (/^\/[/\\]/.test(url)) throw sourceInvalid('url must not begin with two slashes.');
  const source = url.startsWith('/') ? sourceBelow(site, url) : readSource(url);
  if (optimiser.test(source.pathname)) throw sourceInvalid('url must not be one of the optimiser.');
  return source;
}
