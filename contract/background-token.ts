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
