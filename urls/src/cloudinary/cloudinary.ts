import { createHash } from 'node:crypto';
import { optionInvalid, sourceInvalid, sourceMissing } from '../errors.ts';
import { decodeSource, parseQuery, withBothSlashes } from '../read.ts';
import type { Size, Translation, UrlDialect, UrlHost, UrlSignature } from '../translation.ts';
import { Chain, isComponent, readFormat } from './chain.ts';

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

function translate(path: string, query: string, host: UrlHost): Translation {
  const parts = split(path);
  if (parts === null) {
    throw sourceMissing('The host has images at /image/upload and /image/fetch only.');
  }
  const { type, components, signature, source } = parts;
  if (components.length > maxComponents) {
    throw optionInvalid('The URL', `has more than ${maxComponents} components`);
  }
  const chain = new Chain(host, type === 'upload' ? readFormat(source) : null);
  for (const component of components) chain.add(component, source);
  const { query: native, ignored, resolve } = chain.end();
  // The signature does not cover the version: anyone could request each image as many versions.
  if (signature === null && parts.version !== null) native.set('v', 'v', parts.version);
  // Libraries add the parameters with an underscore.
  const others = [...parseQuery(query).keys()].filter((name) => !name.startsWith('_'));
  if (type === 'fetch' && others.length > 0) {
    throw sourceInvalid('The ? of the source URL in the path must be encoded.');
  }
  // One signature would be valid for both.
  if (type === 'upload' && /^https?(?::|%3a)/i.test(source)) {
    throw sourceInvalid('A source URL needs /image/fetch.');
  }
  const read = {
    // The libraries encode the whole fetched URL once, except its colons and slashes.
    source: type === 'fetch' ? { url: decodeSource(source) } : { path: `/${source}` },
    query: native,
    ignored: [...ignored, ...others],
  };
  if (resolve === null) return { kind: 'image', ...read };
  return {
    kind: 'needsSize',
    ...read,
    resolve: (size: Size) => ({ kind: 'image', query: resolve(size), headers: [] }),
  };
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
export const cloudinary: UrlDialect = { title: 'Cloudinary', translate, readSignature };
