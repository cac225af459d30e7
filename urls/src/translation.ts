export type UrlErrorCode =
  | 'parameter_invalid'
  | 'source_invalid'
  | 'source_missing'
  | 'source_not_found';

/** A URL without a meaning or equivalent. The message is a sentence for the URL's author. */
export class UrlError extends Error {
  readonly code: UrlErrorCode;

  constructor(code: UrlErrorCode, message: string) {
    super(message);
    this.name = 'UrlError';
    this.code = code;
  }
}

/** @param why the rest of a sentence about the option */
export const optionInvalid = (option: string, why: string): UrlError =>
  new UrlError('parameter_invalid', `${option.slice(0, 40).toWellFormed()} ${why}.`);

/** @param nearest what comes closest to the option, if anything does */
export const noEquivalent = (option: string, nearest = ''): UrlError =>
  optionInvalid(
    option,
    `has no equivalent here${nearest === '' ? '' : `; the nearest is ${nearest}`}`,
  );

/** Limits the length of a message about a hostile URL. */
const maxFaults = 10;

/** The faults of a URL's options, which one error names together. */
export class Faults {
  readonly #messages = new Set<string>();

  /** Keeps the fault that a function throws, so that others are found too. */
  collect(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof UrlError)) throw error;
      this.#messages.add(error.message);
    }
  }

  /** @throws UrlError parameter_invalid */
  throwAny(): void {
    if (this.#messages.size === 0) return;
    const shown = [...this.#messages].slice(0, maxFaults);
    throw new UrlError('parameter_invalid', shown.join(' '));
  }
}

export const sourceInvalid = (message: string): UrlError => new UrlError('source_invalid', message);

export const sourceMissing = (message: string): UrlError => new UrlError('source_missing', message);

/** A native parameter's value, and the other service's option that set it. */
interface NativeValue {
  readonly text: string;
  readonly option: string;
}

/** Returns a value as text: numbers in decimal notation with at most six decimals. */
const toText = (value: string | number | boolean): string =>
  String(typeof value === 'number' ? Number(value.toFixed(6)) : value);

/**
 * This service's parameters by canonical name, and the URL's expiry as `exp`, in Unix seconds. The
 * service's table of parameters checks the values.
 */
export class NativeQuery {
  readonly #values: Map<string, NativeValue>;

  constructor(values: Iterable<readonly [string, NativeValue]> = []) {
    this.#values = new Map(values);
  }

  get(name: string): string | undefined {
    return this.#values.get(name)?.text;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /**
   * @param option as the URL names it
   * @param value null removes the parameter
   */
  set(option: string, name: string, value: string | number | boolean | null): void {
    if (value === null) this.#values.delete(name);
    else this.#values.set(name, { text: toText(value), option });
  }

  [Symbol.iterator](): IterableIterator<[string, NativeValue]> {
    return this.#values[Symbol.iterator]();
  }

  /** Returns the parameters in name order, joined with `&`. */
  toString(): string {
    const query = new URLSearchParams();
    for (const [name, { text }] of this.#values) query.append(name, text);
    query.sort();
    return query.toString();
  }
}

/** An image's size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Stands for a source that is larger than any limit. */
export const veryLarge: Size = { width: 100_000, height: 100_000 };

/** A source's size, which remembers whether a translation depends on it. */
export class SourceSize {
  readonly #size: Size;
  isUsed = false;

  constructor(size: Size) {
    this.#size = size;
  }

  get(): Size {
    this.isUsed = true;
    return this.#size;
  }
}

/** A source as a URL names it: absolute, or a path below the host's base. The service checks both. */
export type Source = { readonly url: string } | { readonly path: string };

/** The facts about a host that its URLs' meaning depends on. */
export interface UrlHost {
  /** The absolute URL below which path sources are. */
  readonly base: string;
  /** Returns whether sources can be on a host. */
  readonly isAllowedHost: (name: string) => boolean;
  /** Native parameters by preset name and canonical parameter name. */
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Whether delivered images lose the source's metadata. */
  readonly stripMetadata: boolean;
  /** Maximum output width and height, in pixels. */
  readonly maxSide: number;
  /** Maximum output width times height. */
  readonly maxArea: number;
}

/** The parts of a request that a document depends on. */
export interface UrlClient {
  /** The URL's scheme, host and port, as the client sees them. */
  readonly origin: string;
  /** The Accept header, or ''. */
  readonly accept: string;
}

/** A text about a source. */
export interface SourceDocument {
  readonly kind: 'document';
  readonly contentType: string;
  readonly body: string;
}

/** Requests an image by native parameters. */
interface ImageTarget {
  readonly kind: 'image';
  readonly query: NativeQuery;
}

/** Requests an image or a document that depends on the source's size. */
interface SizeTarget {
  readonly kind: 'needsSize';
  /** The query for a very large source. Only its `exp` and `v` hold for every size. */
  readonly query: NativeQuery;
  /** @param size of the upright source. @throws UrlError */
  readonly resolve: (size: Size, client: UrlClient) => ImageTarget | SourceDocument;
}

/** Redirects to another path of the host (303). */
interface RedirectTarget {
  readonly kind: 'redirect';
  readonly location: string;
}

/** The native meaning of another service's URL. */
export type Translation = (ImageTarget | SizeTarget | RedirectTarget) & {
  readonly source: Source;
  /** Whether client hints set the size. Most services ignore them. */
  readonly usesHints?: boolean;
  /** Names of options without any effect in the other service either. */
  readonly ignored: readonly string[];
};

/** What a language makes of a URL for a source of some size. */
interface SizedQuery {
  readonly query: NativeQuery;
  /** Names of options without any effect. */
  readonly ignored?: readonly string[];
  readonly usesHints?: boolean;
}

/**
 * Translates for a very large source, and for its real size later if the meaning depends on it.
 * @param ignored names of options without any effect, in addition to those that `read` returns
 * @throws UrlError for everything that does not depend on the size
 */
export function translateSized(
  source: Source,
  ignored: readonly string[],
  read: (size: SourceSize) => SizedQuery,
): Translation {
  const size = new SourceSize(veryLarge);
  const first = read(size);
  const both = { ...first, source, ignored: [...(first.ignored ?? []), ...ignored] };
  if (!size.isUsed) return { kind: 'image', ...both };
  const resolve = (actual: Size): ImageTarget => {
    const { query } = read(new SourceSize(actual));
    return { kind: 'image', query };
  };
  return { kind: 'needsSize', ...both, resolve };
}

/** A secret that signs URLs. imgproxy needs a key and a salt in hexadecimal digits. */
export interface UrlSecret {
  readonly secret: string;
  readonly salt?: string;
}

/** The signature in a URL. */
export interface UrlSignature {
  readonly text: string;
  /** Returns the valid signatures for a secret, of which some services accept several. */
  readonly expected: (secret: UrlSecret) => readonly string[];
}

/** Another service's URL language. */
export interface UrlDialect {
  /** The service's name. */
  readonly title: string;
  /** Matches its usual URLs. The first language that matches counts. */
  readonly form: RegExp;
  /**
   * @param path as sent, from the first slash on
   * @param query from after the question mark on
   * @throws UrlError naming the option
   */
  readonly translate: (path: string, query: string, host: UrlHost) => Translation;
  /**
   * Returns the signature in a URL that `translate` accepts, or null if it is unsigned. Absent for
   * services that do not sign URLs.
   */
  readonly readSignature?: (path: string, query: string) => UrlSignature | null;
  /**
   * Hides the parts of a path that might be secrets, such as a signature or an encoded source, even
   * if the URL is invalid. Absent for services without such parts.
   */
  readonly redact?: (path: string) => string;
}

/** Replaces a possible secret. */
export const redactedMark = '…';

/** Hides the signature in a path's first segment. */
export const hideFirstSegment = (path: string): string =>
  path.replace(/^(\/*)(?!unsafe\/|insecure\/)[^/]+/, `$1${redactedMark}`);
