/** A secret with which the URLs of another service are signed. imgproxy has a key and a salt, in hexadecimal digits. */
export interface UrlSecret {
  readonly secret: string;
  readonly salt?: string;
}

/** The secrets of a project for the URLs of one service. */
export interface UrlSecrets {
  /** The current one first; a second one while it is being replaced. */
  readonly valid: readonly UrlSecret[];
  /** By the clock of the front end. */
  readonly updatedAt: Date;
}

/**
 * The valid secrets after a new one is set.
 * @param keepPrevious whether the current one stays valid too; a repeated call changes nothing
 */
export function withUrlSecret(
  before: readonly UrlSecret[],
  secret: UrlSecret,
  keepPrevious: boolean,
): readonly UrlSecret[] {
  const others = before.filter((one) => one.secret !== secret.secret || one.salt !== secret.salt);
  return [secret, ...(keepPrevious ? others.slice(0, 1) : [])];
}
