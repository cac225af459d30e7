import { ServiceError } from '../../../contract/errors.ts';
import { percentDecode } from '../../../contract/url-text.ts';
import type { Size } from '../../../pool/geometry.ts';
import { parseQuery } from '../address.ts';
import { type Site, sourceBelow } from '../site.ts';
import type { ReadUrl, UrlClient, UrlGrammar, UrlMeaning } from './grammar.ts';
import { iiifContext, iiifInfo, iiifProfile } from './iiif-info.ts';
import { type IiifVersion, iiifLimits, readIiifRequest } from './iiif-request.ts';

/** The characters of a segment (RFC 3986, 3.3), up to the length that a source can have. */
const identifierPattern = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}){1,8192}$/;
/** Up to nine segments. Others than these at the end would be folders with unencoded slashes. */
const prefixPattern = /^(?:\/[\w.~-]{1,64}){0,8}\/(?:iiif|v?(?:(2)(?:\.[01])?|3(?:\.0)?))$/;

/** URLs of the IIIF Image API 3.0 and 2.1. */
export const iiif: UrlGrammar = {
  title: 'IIIF Image API',
  read,
  examples: [
    {
      url: '/iiif/3/a.jpg/full/max/0/default.jpg',
      native: 'dpr=1&fit=fill&fmt=jpeg&h=1000&w=1600',
      meaning: 'The whole image.',
      size: '1600 × 1000',
    },
    {
      url: '/iiif/3/a.jpg/1024,512,1024,1024/288,244/0/default.jpg',
      native: 'crop=1024,512,576,488&dpr=1&fit=fill&fmt=jpeg&h=244&w=288',
      meaning: 'A tile, cut at the edges of the source.',
      size: '288 × 244',
    },
    {
      url: '/iiif/3/a.jpg/pct:10,20,50,50/400,/90/gray.png',
      native: 'crop=160,200,800,500&dpr=1&fit=fill&fmt=png&grayscale=1&h=400&rotate=90&w=250',
      meaning: 'A part in per cent, scaled, then turned.',
      size: '250 × 400',
    },
    {
      url: '/a.jpg/square/!300,200/!0/bitonal.png',
      native: 'crop=300,0,1000,1000&dpr=1&fit=fill&flop=1&fmt=png&h=200&threshold=128&w=200',
      meaning:
        'The middle square within a box, mirrored, in black and white. The prefix is optional.',
      size: '200 × 200',
    },
    {
      url: '/iiif/3/a.jpg/0,0,100,100/^pct:150/0/color.webp',
      native: 'animated=0&crop=0,0,100,100&dpr=1&enlarge=1&fit=fill&fmt=webp&h=150&w=150',
      meaning: 'Scaled up, which needs `^` in version 3.0.',
      size: '150 × 150',
    },
    {
      url: '/iiif/2/a.jpg/full/,250/22.5/default.png',
      native: 'dpr=1&enlarge=1&fit=fill&fmt=png&h=384&rotate=22.5&w=465',
      meaning: 'Version 2.1, turned by any angle, transparent corners.',
      size: '465 × 384',
    },
    {
      url: '/iiif/2/a.jpg/full/full/0/default.gif',
      native: 'animated=0&dpr=1&fit=fill&fmt=gif&h=1000&w=1600',
      meaning: 'The size `full`, in version 2.1 only.',
      size: '1600 × 1000',
    },
  ],
  notes: [
    "The identifier is the path below the host's `base`, percent-encoded as a whole: `products%2Fcoast.jpg`. An unencoded slash returns 404.",
    'The path can start with the former server prefix if that ends in `iiif`, `2` or `3`, such as `/cantaloupe/iiif/2`. Version 2.1 applies after `2`, `v2`, `2.0` or `2.1`, otherwise 3.0.',
    'Without a version in the prefix, `info.json` follows 2.1 if the `profile` in `Accept` is its context.',
    'The image URL up to the identifier redirects to `info.json` with 303.',
    'In 3.0, a size larger than the region returns 400 without `^`; so does `!w,h` if both sides are larger. In 2.1, all sizes scale up.',
    "`maxWidth` is 10,000 or the project's, and `maxArea` 40 million pixels. `max` shrinks to them; larger sizes return 400.",
    'Formats are `jpg`, `png`, `webp` and `gif`; `tif`, `jp2` and `pdf` return 400. Animations become still images.',
    'Sizes that distort the region allow only rotations by multiples of 90 degrees (otherwise 400).',
    "The project's quality and watermark apply to each tile.",
    'Query parameters have no effect, and `x-image-warnings` lists them.',
    'These URLs are unsigned: a project that requires signatures refuses them.',
  ],
};

const notFound = (message: string) => new ServiceError('source_not_found', message);

/** A path at its last slashes. */
interface Parts {
  /** The path to the service, with a slash at its start, or ''. */
  readonly prefix: string;
  readonly identifier: string;
  /** The segments after the identifier: `info.json`, or the four segments of an image request. */
  readonly rest: readonly string[];
  /** Null if the prefix does not name one. */
  readonly version: IiifVersion | null;
}

/** Segments of an image request. */
const requestLength = 4;

function readParts(path: string): Parts {
  const segments = path.replace(/\/$/, '').slice(1).split('/', 20);
  const lengths = segments.at(-1) === 'info.json' ? [1] : [requestLength, 0];
  for (const length of lengths) {
    const at = segments.length - length - 1;
    const prefix = segments
      .slice(0, at)
      .map((segment) => `/${segment}`)
      .join('');
    const match = prefixPattern.exec(prefix);
    if (at < 0 || (prefix !== '' && match === null)) continue;
    const version = match === null || prefix.endsWith('iiif') ? null : match[1] === '2' ? 2 : 3;
    return { prefix, identifier: segments[at] ?? '', rest: segments.slice(at + 1), version };
  }
  throw notFound(
    'The path is not {prefix}/{identifier}/{region}/{size}/{rotation}/{quality}.{format}: encode slashes of the identifier as %2F, and end a prefix with iiif, 2 or 3.',
  );
}

/** The identifier is a path, with no query and no fragment. */
function readIdentifier(identifier: string, site: Site): URL {
  if (identifier === '') throw new ServiceError('source_missing', 'The identifier is missing.');
  if (!identifierPattern.test(identifier)) {
    throw new ServiceError('source_invalid', 'The identifier is not percent-encoded properly.');
  }
  const decoded = percentDecode(identifier);
  if (decoded !== null)
    return sourceBelow(site, `/${decoded.replace(/[?#]/g, encodeURIComponent)}`);
  throw new ServiceError('source_invalid', 'The identifier is not UTF-8, percent-encoded.');
}

function read(path: string, query: string, site: Site): ReadUrl {
  const { prefix, identifier, rest, version } = readParts(path);
  const ignored = [...new Set(parseQuery(query).keys())];
  const url = { source: readIdentifier(identifier, site), parameters: new Map(), ignored };
  const limits = iiifLimits(site.project.maxWidth ?? null);
  const [region, size, rotation, file] = rest;
  if (region === undefined) return { ...url, location: `${prefix}/${identifier}/info.json` };
  if (size === undefined || rotation === undefined || file === undefined) {
    return { ...url, bySize: createInfo({ prefix, identifier, version }, limits) };
  }
  const own = version ?? 3;
  const request = readIiifRequest({ region, size, rotation, file }, own);
  const bySize = (full: Size): UrlMeaning => {
    const { parameters, canonical } = request(full, limits);
    const link = `<${prefix}/${identifier}/${canonical}>;rel="canonical"`;
    return { parameters, headers: [['link', `${link}, ${profileLink(own)}`]] };
  };
  return { ...url, bySize };
}

const profileLink = (version: IiifVersion) => `<${iiifProfile(version)}>;rel="profile"`;

/** Returns `info.json`. Clients of 2.1 at an unversioned URL continue at a versioned URL. */
function createInfo(
  { prefix, identifier, version: named }: Omit<Parts, 'rest'>,
  limits: ReturnType<typeof iiifLimits>,
): NonNullable<ReadUrl['bySize']> {
  return (full, { origin, accept }: UrlClient) => {
    const version = named ?? (accept.includes(iiifContext(2)) ? 2 : 3);
    const folder = version === 2 && named === null ? `${prefix}/2` : prefix;
    const info = iiifInfo(version, `${origin}${folder}/${identifier}`, full, limits);
    const body = JSON.stringify(info);
    const contentType = chooseContentType(version, accept);
    return { document: { contentType, body }, headers: [['link', profileLink(version)]] };
  };
}

/** Version 3.0 prefers JSON-LD, and 2.1 JSON unless the client names JSON-LD. */
function chooseContentType(version: IiifVersion, accept: string): string {
  const isNamed = accept.includes('application/ld+json');
  const isLinked = version === 3 ? isNamed || !accept.includes('application/json') : isNamed;
  if (!isLinked) return 'application/json';
  return version === 3 ? `application/ld+json;profile="${iiifContext(3)}"` : 'application/ld+json';
}
