import { baseUrlError, projectError } from '../base-url.ts';
import type { Picture } from '../interface.ts';

export interface SignerOptions {
  /** `baseUrl` and `project` as in `createImageUrls`. Other URLs are not signed. */
  readonly baseUrl: string;
  readonly project: string;
  /** Delivery hosts of the project, such as `img.shop.example`, to sign their URLs too. */
  readonly hosts?: readonly string[] | undefined;
  /**
   * The secret of the project, which `projects sign` has printed. It can be missing until the signer
   * signs.
   */
  readonly secret: string | undefined;
  /** Minimum validity of a URL in seconds. */
  readonly validFor: number;
  /**
   * Rounds `exp` up to multiples of this many seconds; `validFor` by default. Within a step, an
   * image's URL stays the same, so caches store it once. If the project sets a `--ttl`, `validFor`
   * plus `step` must be less.
   */
  readonly step?: number | undefined;
}

/**
 * Values to sign: an image URL, a srcset or a picture. Foreign URLs in it stay unchanged, and so
 * does a picture whose source stays unchanged.
 */
export type Signable = string | Picture;

export interface Signer {
  (value: string): string;
  (value: Picture): Picture;
}

export interface AsyncSigner {
  (value: string): Promise<string>;
  (value: Picture): Promise<Picture>;
}

/** @throws TypeError for times that cannot be */
export function checkTimes({ validFor, step = validFor }: SignerOptions): void {
  for (const seconds of [validFor, step]) {
    if (!Number.isSafeInteger(seconds) || seconds < 1) {
      throw new TypeError('validFor and step must be whole seconds above 0.');
    }
  }
}

const missingSecret =
  "secret is missing: pass the project's signing secret, for example from the server's environment.";

/**
 * Returns the secret. Checks options from the environment when signing starts, because the
 * environment can lack them where a page is built.
 * @throws TypeError for options that cannot sign
 */
function readSecret({ baseUrl, project, secret }: SignerOptions): string {
  const error = baseUrlError(baseUrl) ?? projectError(project);
  if (error !== null) throw new TypeError(error);
  if (typeof secret !== 'string' || secret === '') throw new TypeError(missingSecret);
  return secret;
}

/** Returns the expiry of a URL signed now, in Unix seconds. */
export function expiry({ validFor, step = validFor }: SignerOptions): number {
  return Math.ceil((Date.now() / 1000 + validFor) / step) * step;
}

/** Matches an image URL from `/img` on, without its fragment. A base URL's path is not signed. */
const target = /^\/img\/(?:(?:https?(?::|%3a)|\/|%2f)[^?#]*)?\?([^#]*)(?=#|$)/i;

/** A URL of a delivery host: its origin, its host, its path, its query and its fragment. */
const hostTarget = /^(https?:\/\/([^/:?#]+)(?::\d+)?)(\/[^?#]*)(?:\?([^#]*))?(#.*)?$/i;
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Finds URLs at a text's start, after a blank, or after the descriptor of another candidate. */
const urlsIn = (start: string, flags: string): RegExp =>
  new RegExp(`(?<=^|\\s|\\s[\\d.]+[wxh],)${start}\\S*[^\\s,]`, flags);

/** A function that signs the image URLs of a base URL, of delivery hosts and of a project in a text, such as a srcset. */
function createTextSigner(
  { baseUrl, project, hosts = [] }: SignerOptions,
  exp: number,
  computeSignature: (text: string) => string,
): (text: string) => string {
  const base = baseUrl.replace(/\/+$/, '');
  const urls = urlsIn(escaped(`${base}/img/`), 'g');
  const hostUrls = urlsIn(`https?:\\/\\/(?:${hosts.map(escaped).join('|')})(?::\\d+)?\\/`, 'gi');
  const sign = (found: string, query: string): string => {
    const projects = new URLSearchParams(query).getAll('project');
    if (projects.length !== 1 || projects[0] !== project) return found;
    const text = `${found.replace(/&(?:exp|sig)=[^&]*/g, '')}&exp=${exp}`;
    return `${text}&sig=${computeSignature(text)}`;
  };
  const signAtHost = (found: string): string => {
    const [, origin = '', host = '', path = '', query = '', rest = ''] =
      hostTarget.exec(found) ?? [];
    const projects = new URLSearchParams(query).getAll('project');
    if (origin === '' || projects.some((other) => other !== project)) return found;
    const pairs = query.split('&').filter((pair) => pair !== '' && !/^(?:exp|sig)=/.test(pair));
    const signedQuery = [...pairs, `exp=${exp}`].join('&');
    const isNative = path.startsWith('/img/');
    const sig = computeSignature(
      `${isNative ? '' : `//${host.toLowerCase()}`}${path}?${signedQuery}`,
    );
    return `${origin}${path}?${signedQuery}&sig=${sig}${rest}`;
  };
  return (text) => {
    const ofBase = text.replace(urls, (url) => base + url.slice(base.length).replace(target, sign));
    return hosts.length === 0 ? ofBase : ofBase.replace(hostUrls, signAtHost);
  };
}

/**
 * Signs the image URLs in a value.
 * @param exp when they expire, Unix seconds
 * @param computeSignature returns the signature of a text by a secret
 * @throws TypeError for options that cannot sign
 */
export function signed<T extends Signable>(
  value: T,
  options: SignerOptions,
  exp: number,
  computeSignature: (text: string, secret: string) => string,
): T;
export function signed(
  value: Signable,
  options: SignerOptions,
  exp: number,
  computeSignature: (text: string, secret: string) => string,
): Signable {
  const secret = readSecret(options);
  const sign = createTextSigner(options, exp, (text) => computeSignature(text, secret));
  if (typeof value === 'string') return sign(value);
  const { sources, img } = value;
  // The source stayed unchanged, so its URL could come from a user.
  if (img.srcset === undefined) return value;
  return {
    sources: sources.map((source) => ({ ...source, srcset: sign(source.srcset) })),
    img: { ...img, src: sign(img.src), srcset: sign(img.srcset) },
  };
}
