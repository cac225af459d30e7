import type { Credentials } from './credentials.ts';

/** SHA-256 of the empty body that all requests except PUT have. */
const emptyDigest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  /** As sent, if the URL cannot contain it: see `objectPath`. */
  readonly path?: string;
  /**
   * Additional headers in lower case. All are signed, except headers that proxies can change, such
   * as `range` and `user-agent`.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Hexadecimal SHA-256 of the body; absent for a request with an empty body. All services accept
   * it over http and https.
   */
  readonly bodyDigest?: string;
  readonly region: string;
  readonly credentials: Credentials;
  /** Unix ms. */
  readonly now: number;
}

/**
 * Maximum cached signing keys, each derived from a secret for a day, because credentials can change
 * hourly.
 */
const maxDerivedKeys = 50;
const derivedKeys = new Map<string, ArrayBuffer>();

/**
 * Returns a request's headers with its signature (AWS Signature Version 4 for S3); `host` is signed
 * but not returned.
 * @throws Error without secrets, for credentials that a header cannot contain
 */
export async function sign({
  method,
  url,
  path,
  headers = {},
  bodyDigest = emptyDigest,
  region,
  credentials,
  now,
}: SignedRequest): Promise<Record<string, string>> {
  const { AwsV4Signer } = await import('aws4fetch');
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  if (derivedKeys.size > maxDerivedKeys) derivedKeys.clear();
  try {
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': bodyDigest },
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      sessionToken: sessionToken ?? '',
      datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
      cache: derivedKeys,
    });
    // A URL resolves the segments `.` and `..`.
    if (path !== undefined) signer.encodedPath = path;
    const signed = await signer.sign();
    return Object.fromEntries(signed.headers);
  } catch (error) {
    // Omits the cause, because the error from `Headers` quotes the value, such as a token with a
    // line break.
    if (error instanceof TypeError) throw new Error('the credentials cannot be sent in headers');
    throw error;
  }
}
