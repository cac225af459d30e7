import type { Picture } from '../image-urls.ts';

export interface SignerOptions {
  /** The secret of the project, which `projects sign` has printed. */
  readonly secret: string;
  /** Seconds for which a URL is valid at least. */
  readonly validFor: number;
  /**
   * Seconds to whose multiples `exp` is rounded up, `validFor` by default: the URLs of the same image are equal
   * for that time, so that caches have it once. With a `--ttl` of the project, `validFor` and `step` together
   * must be less.
   */
  readonly step?: number | undefined;
}

/** What can be signed: an image URL, a srcset, or a picture. Other URLs in it stay as they are. */
export type Signable = string | Picture;

export interface Signer {
  (value: string): string;
  (value: Picture): Picture;
}

export interface AsyncSigner {
  (value: string): Promise<string>;
  (value: Picture): Promise<Picture>;
}

/** @throws TypeError for options that cannot sign */
export function checkOptions({ secret, validFor, step = validFor }: SignerOptions): void {
  if (typeof secret !== 'string' || secret === '') throw new TypeError('The secret is missing.');
  for (const seconds of [validFor, step]) {
    if (!Number.isSafeInteger(seconds) || seconds < 1) {
      throw new TypeError('validFor and step must be whole seconds above 0.');
    }
  }
}

/** When a URL that is signed now expires, Unix seconds. */
export function expiry({ validFor, step = validFor }: SignerOptions): number {
  return Math.ceil((Date.now() / 1000 + validFor) / step) * step;
}

/** An image URL, from `/img` on without a fragment. The path of a base URL is not signed. */
const target = /\/img\/(?:https?(?::|%3a)[^?#]*)?\?[^#]*/i;

function signUrl(url: string, exp: number, signatureOf: (text: string) => string): string {
  return url.replace(target, (found) => {
    const text = `${found.replace(/&(?:exp|sig)=[^&]*/g, '')}&exp=${exp}`;
    return `${text}&sig=${signatureOf(text)}`;
  });
}

/**
 * Signs the image URLs in a value.
 * @param signatureOf returns the signature of a text
 */
export function signed<T extends Signable>(
  value: T,
  exp: number,
  signatureOf: (text: string) => string,
): T;
export function signed(
  value: Signable,
  exp: number,
  signatureOf: (text: string) => string,
): Signable {
  const sign = (text: string): string =>
    text.replace(/[^\s,]\S*[^\s,]/g, (word) => signUrl(word, exp, signatureOf));
  if (typeof value === 'string') return sign(value);
  const { sources, img } = value;
  return {
    sources: sources.map((source) => ({ ...source, srcset: sign(source.srcset) })),
    img: { ...img, src: sign(img.src), srcset: img.srcset && sign(img.srcset) },
  };
}
