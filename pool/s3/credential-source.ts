export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Null for permanent credentials. */
  readonly sessionToken: string | null;
  /** Unix ms; infinite for those of variables. */
  readonly expiresAt: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Null where the environment does not have this source.
 *
 * @param region of the bucket
 * @throws Error, without secrets
 */
export type CredentialSource = (
  environment: Environment,
  region: string,
) => Promise<Credentials | null>;
