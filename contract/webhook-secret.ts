import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

/** The signing key in a secret of Standard Webhooks: the bytes after `whsec_`, which are in Base64. */
export const webhookKey = (secret: string): Buffer =>
  Buffer.from(secret.slice(prefix.length), 'base64');

/**
 * The secret of a project's callbacks, derived from the deployment's secret: whoever verifies the callbacks of one
 * project can forge neither those of another nor calls of the purge hook.
 */
export function projectWebhookSecret(secret: string, projectId: string): string {
  const key = createHmac('sha256', webhookKey(secret)).update(`callbacks ${projectId}`);
  return prefix + key.digest('base64');
}
