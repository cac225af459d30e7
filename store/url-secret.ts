/** A secret that signs another service's URLs. imgproxy needs a key and a salt in hexadecimal digits. */
export interface UrlSecret {
  readonly secret: string;
  readonly salt?: string;
}

/** A project's secrets for one service's URLs. */
export interface UrlSecrets {
  /** The current secret first, then the previous secret during a replacement. */
  readonly valid: readonly UrlSecret[];
  /** By the clock of the front end. */
  readonly updatedAt: Date;
}

/**
 * Returns the valid secrets after a new secret is set.
 * @param keepPrevious whether the current secret stays valid too; a repeated call changes nothing
 */
export function withUrlSecret(
  before: readonly UrlSecret[],
  secret: UrlSecret,
  keepPrevious: boolean,
): readonly UrlSecret[] {
  const others = before.filter(
    (stored) => stored.secret !== secret.secret || stored.salt !== secret.salt,
  );
  return [secret, ...(keepPrevious ? others.slice(0, 1) : [])];
}
