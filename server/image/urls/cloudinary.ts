import { createHash } from 'node:crypto';
import { ServiceError } from '../../../contract/errors.ts';
import type { Size } from '../../../pool/geometry.ts';
import { type Site, sourceBelow } from '../site.ts';
import { decodeSource, readSource, withBothSlashes } from '../source-url.ts';
import { Chain } from './cloudinary-chain.ts';
import { cloudinaryExamples, cloudinaryNotes } from './cloudinary-examples.ts';
import { isComponent, readFormat } from './cloudinary-options.ts';
import type { ReadUrl, UrlGrammar, UrlSignature } from './grammar.ts';
import { optionInvalid } from './meaning.ts';

/** The URLs of Cloudinary images. */
export const cloudinary: UrlGrammar = {
  title: 'Cloudinary',
  read,
  readSignature,
  examples: cloudinaryExamples,
  notes: cloudinaryNotes,
};

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
  const { type, components, version } = parts;
  if (components.length > maxComponents) {
    throw optionInvalid('The URL', `has more than ${maxComponents} components`);
  }
  const chain = new Chain(site, type === 'upload' ? readFormat(parts.source) : null);
  for (const component of components) chain.add(component, parts.source);
  const { parameters, ignored, bySize } = chain.end();
  if (version !== null) parameters.set('v', version);
  // Libraries add the parameters with an underscore.
  const others = [...new URLSearchParams(query).keys()].filter((name) => !name.startsWith('_'));
  if (type === 'fetch' && others.length > 0) {
    throw new ServiceError(
      'source_invalid',
      'The ? of the source URL in the path must be encoded.',
    );
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
