/** How the sources of a host are fetched for a project. Its secrets are encrypted. */
export interface ProjectOrigin {
  /** With its port, if it is not that of the scheme. */
  readonly host: string;
  /** The names of the request headers that are sent to the host. */
  readonly headers: readonly string[];
  /** The `s3://` URL of the bucket that has the sources; null for an HTTP origin. */
  readonly location: string | null;
  /** All of it as JSON with the secrets, as from `Keyring.seal`. */
  readonly sealed: string;
  /** By the clock of the front end. */
  readonly updatedAt: Date;
}

/** The field of a host in `Project.origins`: the store takes a dot for a path. */
export const originField = (host: string): string => host.replaceAll('.', '%2E');
