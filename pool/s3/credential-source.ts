export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Null for permanent credentials. */
  readonly sessionToken: string | null;
  /** Unix ms; infinite for credentials from environment variables. */
  readonly expiresAt: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * One source of credentials. Resolves with null if the environment does not configure it.
 *
 * @param region of the bucket
 * @throws Error without secrets
 */
export type CredentialSource = (
  environment: Environment,
  region: string,
) => Promise<Credentials | null>;
