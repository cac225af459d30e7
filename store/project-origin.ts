/** A project's private origin: how to fetch sources from a host, with encrypted secrets. */
export interface ProjectOrigin {
  /** With the port, unless it is the default port of the scheme. */
  readonly host: string;
  /** Names of the request headers to send to the host. */
  readonly headers: readonly string[];
  /** The source bucket's `s3://` URL; null for an HTTP origin. */
  readonly location: string | null;
  /** The origin with its secrets, as JSON encrypted by `Keyring.seal`. */
  readonly sealed: string;
  /** By the clock of the front end. */
  readonly updatedAt: Date;
}

/**
 * Returns the host's field in `Project.origins`. Encodes dots, because they separate path segments.
 */
export const originField = (host: string): string => host.replaceAll('.', '%2E');

/** Returns a host's item, or undefined, even for a host such as `constructor`. */
export function itemOfHost<Item>(
  items: Readonly<Record<string, Item>> | undefined,
  host: string,
): Item | undefined {
  const field = originField(host);
  return items !== undefined && Object.hasOwn(items, field) ? items[field] : undefined;
}
