import { createHmac } from 'node:crypto';

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
