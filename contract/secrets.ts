import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Request header that marks a worker's requests as background work: `<Unix seconds>.<base64url
 * HMAC-SHA256>` over the time and the request target, keyed with the deployment's secret. Only
 * processes with store access can create a token. An intercepted token is valid for a single URL
 * and a few minutes.
 */
export const backgroundHeader = 'x-image-delivery-background';

/**
 * The header's value in the console's image requests. Anyone can send it, so it affects only a
 * project's activity; usage, limits, metrics and logs include these requests.
 */
export const consoleMark = 'console';

const validForSeconds = 300;

function mac(secret: string, seconds: string, target: string): Buffer {
  return createHmac('sha256', secret).update(`${seconds}\n${target}`).digest();
}

/**
 * @param target path and query as sent
 * @param now Unix ms
 */
export function backgroundToken(secret: string, target: string, now: number): string {
  const seconds = String(Math.floor(now / 1_000));
  return `${seconds}.${mac(secret, seconds, target).toString('base64url')}`;
}

/**
 * Returns whether a token is valid for this request target at this time.
 * @param secret null until loaded
 */
export function isBackgroundToken(
  secret: string | null,
  target: string,
  token: string,
  now: number,
): boolean {
  const [seconds = '', given = ''] = token.split('.', 2);
  if (secret === null || !/^\d{1,12}$/.test(seconds)) return false;
  if (Math.abs(now / 1_000 - Number(seconds)) > validForSeconds) return false;
  const expected = mac(secret, seconds, target);
  const bytes = Buffer.from(given, 'base64url');
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

const prefix = 'whsec_';

/** Whether a text is a secret of Standard Webhooks: 24 to 64 bytes in Base64. */
export function isWebhookSecret(text: string): boolean {
  const base64 = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

/** The signing key in a secret of Standard Webhooks: the bytes after `whsec_`, which are in Base64. */
export const webhookKey = (secret: string): Buffer =>
  Buffer.from(secret.slice(prefix.length), 'base64');

/**
 * Derives a project's callback secret from the deployment's secret, so that a project that verifies
 * its callbacks can forge neither another project's callbacks nor purge hook calls.
 */
export function projectWebhookSecret(secret: string, projectId: string): string {
  const key = createHmac('sha256', webhookKey(secret)).update(`callbacks ${projectId}`);
  return prefix + key.digest('base64');
}
