import { Agent } from 'undici';
import { readBody } from './response-body.ts';

/** Responses have about 2 KB. */
const maxBytes = 65_536;
const formType = 'application/x-www-form-urlencoded';

export interface CredentialRequest {
  readonly method?: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as the body of a POST. */
  readonly form?: URLSearchParams;
  readonly timeoutMs: number;
}

/**
 * Returns the response body from a service that issues credentials. The request bypasses proxies,
 * follows no redirect and keeps no connection open.
 *
 * @throws Error with the status, but without the body and the URL's query, which can be secret
 */
export async function requestCredentials(
  url: URL,
  { method = 'GET', headers = {}, form, timeoutMs }: CredentialRequest,
): Promise<string> {
  const dispatcher = new Agent({ pipelining: 0, connect: { timeout: timeoutMs } });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, body } = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: form === undefined ? method : 'POST',
      headers: form === undefined ? headers : { ...headers, 'content-type': formType },
      body: form?.toString() ?? null,
      signal,
    });
    if (statusCode !== 200) throw new Error(`${url.origin}${url.pathname} returned ${statusCode}`);
    return (await readBody(body, maxBytes)).toString();
  } finally {
    await dispatcher.destroy();
  }
}

/**
 * Reads credentials from the JSON that containers and instances receive.
 *
 * @throws Error for other texts
 */
export function readCredentials(text: string) {
  const fields = parsed(text);
  return toCredentials(
    fields['AccessKeyId'],
    fields['SecretAccessKey'],
    fields['Token'],
    fields['Expiration'],
  );
}

/** @throws Error if a value is missing */
export function toCredentials(id: unknown, secret: unknown, token: unknown, expiration: unknown) {
  const expiresAt = Date.parse(String(expiration));
  const areTexts = [id, secret, token].every((text) => typeof text === 'string' && text !== '');
  if (!areTexts || Number.isNaN(expiresAt)) throw new Error('the response has no credentials');
  return {
    accessKeyId: String(id),
    secretAccessKey: String(secret),
    sessionToken: String(token),
    expiresAt,
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Drops the original error, because a SyntaxError's message quotes part of the text.
  }
  throw new Error('the response is not a JSON object');
}
