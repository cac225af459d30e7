import { createHash } from 'node:crypto';
import { ServiceError } from '../../../contract/errors.ts';
import type { Size } from '../../../pool/geometry.ts';
import { parseQuery } from '../address.ts';
import { type Site, sourceBelow } from '../site.ts';
import { decodeSource, readSource, withBothSlashes } from '../source-url.ts';
import { Chain } from './cloudinary-chain.ts';
import { isComponent, readFormat } from './cloudinary-options.ts';
import type { ReadUrl, UrlGrammar, UrlSignature } from './grammar.ts';
import { optionInvalid } from './meaning.ts';

/** For the path after the delivery type. */
const maxPathLength = 6_000;
const maxComponents = 30;

/** A path with the cloud name, which private CDNs and CNAMEs leave out. */
const pathPattern =
  /^\/(?:[^/]+\/)?image\/(?<type>upload|fetch)\/(?:s--(?<signature>[\w-]*)--\/)?(?<rest>.+)$/s;

/** URL parts exactly as sent. */
interface Parts {
  readonly type: string;
  readonly signature: string | null;
  readonly components: readonly string[];
  /** Digits, or null. */
  readonly version: string | null;
  readonly source: string;
}

function split(path: string): Parts | null {
  const { type, signature = null, rest } = pathPattern.exec(path)?.groups ?? {};
  if (type === undefined || rest === undefined || rest.length > maxPathLength) return null;
  const segments = rest.split('/');
  // A fetched URL contains slashes too. The last segment always belongs to the source.
  const isSource = (segment: string): boolean =>
    type === 'fetch' && /^https?(?::|%3a)/i.test(segment);
  const last = segments.length - 1;
  const isOption = (segment: string, at: number) =>
    at < last && !isSource(segment) && isComponent(segment);
  const end = segments.findIndex((segment, at) => !isOption(segment, at));
  const [, version = null] = (end < last && /^v(\d{1,20})$/.exec(segments[end] ?? '')) || [];
  const source = segments.slice(version === null ? end : end + 1).join('/');
  const written = type === 'fetch' ? withBothSlashes(source) : source;
  // A version moved before a signed URL's options would turn them into folders of the source.
  if (signature !== null && version !== null && isOption(segments[end + 1] ?? '', end + 1)) {
    throw optionInvalid('The version', 'of a signed URL must follow the options');
  }
  return { type, signature, components: segments.slice(0, end), version, source: written };
}

function read(path: string, query: string, site: Site): ReadUrl {
  const parts = split(path);
  if (parts === null) {
    throw new ServiceError(
      'source_missing',
      'The host has images at /image/upload and /image/fetch only.',
    );
  }
  const { type, components, signature } = parts;
  // The signature does not cover the version: anyone could request each image as many versions.
  const version = signature === null ? parts.version : null;
  if (components.length > maxComponents) {
    throw optionInvalid('The URL', `has more than ${maxComponents} components`);
  }
  const chain = new Chain(site, type === 'upload' ? readFormat(parts.source) : null);
  for (const component of components) chain.add(component, parts.source);
  const { parameters, ignored, bySize } = chain.end();
  if (version !== null) parameters.set('v', version);
  // Libraries add the parameters with an underscore.
  const others = [...parseQuery(query).keys()].filter((name) => !name.startsWith('_'));
  if (type === 'fetch' && others.length > 0) {
    throw new ServiceError(
      'source_invalid',
      'The ? of the source URL in the path must be encoded.',
    );
  }
  // One signature would be valid for both.
  if (type === 'upload' && /^https?(?::|%3a)/i.test(parts.source)) {
    throw new ServiceError('source_invalid', 'A source URL needs /image/fetch.');
  }
  // The libraries encode the whole fetched URL once, except its colons and slashes.
  const source =
    type === 'fetch'
      ? readSource(decodeSource(parts.source))
      : sourceBelow(site, `/${parts.source}`);
  const read = { source, ignored: [...ignored, ...others] };
  if (bySize !== null) {
    const meaning = (size: Size) => ({ parameters: bySize(size), headers: [] });
    const ofSource = new Map(version === null ? [] : [['v', version]]);
    return { ...read, parameters: ofSource, bySize: meaning };
  }
  return { ...read, parameters };
}

/** The first characters of a digest in base64url. */
export function cloudinarySignature(
  secret: string,
  text: string,
  algorithm: 'sha1' | 'sha256' = 'sha1',
  length = 8,
): string {
  return createHash(algorithm).update(`${text}${secret}`).digest('base64url').slice(0, length);
}

function readSignature(path: string): UrlSignature | null {
  const parts = split(path);
  if (parts === null || parts.signature === null) return null;
  // Without the version.
  const text = [...parts.components, parts.source].join('/');
  return {
    text: parts.signature,
    expected: ({ secret }) => [
      cloudinarySignature(secret, text),
      cloudinarySignature(secret, text, 'sha256'),
      cloudinarySignature(secret, text, 'sha256', 32),
    ],
  };
}

/** The URLs of Cloudinary images. */
export const cloudinary: UrlGrammar = {
  title: 'Cloudinary',
  read,
  readSignature,
  examples: [
    {
      url: '/demo/image/upload/c_scale,w_300/a.jpg',
      native: 'dpr=1&enlarge=1&fmt=jpeg&w=300',
      meaning:
        "A path below the host's `base`; the extension sets the format. The cloud name is optional.",
      size: '300 × 188',
    },
    {
      url: '/demo/image/fetch/w_300/https://shop.example/a.jpg',
      native: 'dpr=1&enlarge=1&w=300',
      meaning: 'A source on an allowed host, encoded or not. Without `c` it is scaled.',
      size: '300 × 188',
    },
    {
      url: '/demo/image/upload/c_scale,w_300/f_auto/q_auto/v1571218039/a.jpg',
      native: 'dpr=1&enlarge=1&fmt=auto&q=auto&v=1571218039&w=300',
      meaning: 'Several components, and a version.',
      size: '300 × 188',
    },
    {
      url: '/demo/image/upload/c_fill,g_north_east,w_300,h_200/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&fmt=jpeg&h=200&pos=northeast&w=300',
      meaning: 'Cut to the box; to the middle without `g`.',
      size: '300 × 200',
    },
    {
      url: '/demo/image/upload/c_fill,g_auto,w_300,h_200/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&fmt=jpeg&h=200&pos=attention&w=300',
      meaning: 'The most interesting part.',
      size: '300 × 200',
    },
    {
      url: '/demo/image/upload/c_fill,ar_16:9,w_300/a.jpg',
      native: 'ar=16:9&dpr=1&enlarge=1&fit=cover&fmt=jpeg&w=300',
      meaning: 'A ratio and a side.',
      size: '300 × 169',
    },
    {
      url: '/demo/image/upload/c_fill,ar_1.5/a.jpg',
      native: 'ar=1.5&dpr=1&fit=cover&fmt=jpeg',
      meaning: 'A ratio only.',
      size: '1500 × 1000',
    },
    {
      url: '/demo/image/upload/c_fit,w_2000,h_2000/a.jpg',
      native: 'dpr=1&enlarge=1&fit=inside&fmt=jpeg&h=2000&w=2000',
      meaning: 'Within the box, scaled up.',
      size: '2000 × 1250',
    },
    {
      url: '/demo/image/upload/c_limit,w_2000,h_2000/a.jpg',
      native: 'dpr=1&fit=inside&fmt=jpeg&h=2000&w=2000',
      meaning: 'Within the box, not scaled up.',
      size: '1600 × 1000',
    },
    {
      url: '/demo/image/upload/c_lfill,w_300,h_200/a.jpg',
      native: 'dpr=1&fit=cover&fmt=jpeg&h=200&w=300',
      meaning: 'Cut to the box; no effect on a smaller source.',
      size: '300 × 200',
    },
    {
      url: '/demo/image/upload/b_white,c_pad,w_300,h_300/a.jpg',
      native: 'bg=white&dpr=1&enlarge=1&fit=contain&flatten=1&fmt=jpeg&h=300&w=300',
      meaning: 'Padded; `b` also fills transparency.',
      size: '300 × 300',
    },
    {
      url: '/demo/image/upload/c_scale,w_300,h_300/a.jpg',
      native: 'dpr=1&enlarge=1&fit=fill&fmt=jpeg&h=300&w=300',
      meaning: 'Distorted.',
      size: '300 × 300',
    },
    {
      url: '/demo/image/upload/c_crop,x_100,y_80,w_400,h_300/c_scale,w_200/a.jpg',
      native: 'crop=100,80,400,300&dpr=1&enlarge=1&fmt=jpeg&w=200',
      meaning: 'A part of the source, in its pixels.',
      size: '200 × 150',
    },
    {
      url: '/demo/image/upload/a_90/c_scale,dpr_2.0,w_300/f_webp,q_60/a.jpg',
      native: 'dpr=2&enlarge=1&fmt=webp&q=60&rotate=90&w=300',
      meaning: 'Rotated, then scaled, in device pixels.',
      size: '600 × 960',
    },
    {
      url: '/demo/image/upload/t_card/f_auto/a.jpg',
      native: 'dpr=1&fmt=auto&preset=card',
      meaning: "A named transformation: the project's preset with this name.",
      size: '400 × 300',
    },
    {
      url: '/demo/image/upload/c_scale,w_300/a_hflip/e_grayscale/fl_attachment:map.keep_attribution/a.jpg',
      native: 'download=map&dpr=1&enlarge=1&flop=1&fmt=jpeg&grayscale=1&keep=copyright&w=300',
      meaning: 'Mirrored, grey, saved under a name, with the copyright.',
      size: '300 × 188',
    },
  ],
  notes: [
    'Signatures `s--…--` have 8 characters (SHA-1 or SHA-256) or 32 (SHA-256).',
    "The public id is the source's path below `base`, with its extension. Without `f`, the extension sets the format; without a known extension, and for `fetch`, the project's `autoFormat` decides. Without `q`, `defaultQuality` applies.",
    "The service ignores a signed URL's version, which the signature does not cover: purge changed sources.",
    "Operations run in [this service's order](../parameters.md#order-of-operations). Chains with another result, such as a rotation after a resize or a second resize, return 400.",
    '`t_` can be combined with `f`, `q` and `fl` only.',
    'Animations stay animated if the output format supports it; JPEGs are not progressive.',
    'The service ignores the query; `x-image-warnings` lists its parameters unless they start with `_`. Encode a fetched URL with a query.',
    'Unsupported (400): other modes of `c`, such as `thumb`, `lpad`, `mfit` and `auto`; `c_lfill` if only one side of the source exceeds the box; faces and objects as gravity; `c_crop` without `x`, `y` or `g_north_west`; fractions and words in `w` and `h`; `dpr_auto`; levels of `q_auto` except `good`; effects except `e_grayscale` and `e_negate`; layers, borders, rounded corners, default images, conditions and variables; and delivery types except `upload` and `fetch`.',
  ],
};
