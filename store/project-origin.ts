/** A private origin of a project: how the sources of a host are fetched. Its secrets are encrypted. */
export interface ProjectOrigin {
  /** With the port, unless it is the default port of the scheme. */
  readonly host: string;
  /** The names of the request headers that are sent to the host. */
  readonly headers: readonly string[];
  /** The `s3://` URL of the bucket that has the sources; null for an HTTP origin. */
  readonly location: string | null;
  /** The origin with its secrets, as JSON encrypted by `Keyring.seal`. */
  readonly sealed: string;
  /** By the clock of the front end. */
  readonly updatedAt: Date;
}

/** The field of a host in `Project.origins`. Dots are encoded, because they separate the fields of a path. */
export const originField = (host: string): string => host.replaceAll('.', '%2E');
