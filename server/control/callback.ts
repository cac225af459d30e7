import { ServiceError } from '../../contract/errors.ts';
import { privateHostError, readUrl, urlRule } from './hosts-and-urls.ts';
import type { Services } from './services.ts';
import { invalidRequest } from './validation-messages.ts';

/**
 * Checks an input's `callbackUrl` before the call takes effect.
 *
 * @returns the URL, or null if there is none
 * @throws ServiceError invalid_request; callback_queue_full
 */
export async function readCallback(
  text: string | undefined,
  projectId: string,
  { guard, callbacks }: Pick<Services, 'guard' | 'callbacks'>,
): Promise<string | null> {
  if (text === undefined) return null;
  if (callbacks === null) {
    throw invalidRequest(
      'callbackUrl cannot be used, because the operator of the service has not set SERVICE_HOOK_SECRET; only the operator can: omit callbackUrl until then',
    );
  }
  const url = readUrl(text);
  if (url === null) throw invalidRequest(`callbackUrl ${urlRule}`);
  const error = privateHostError(url, guard);
  if (error !== null) throw invalidRequest(`callbackUrl ${error}`);
  if (!(await callbacks.hasRoom(projectId))) {
    const message =
      'Too many callbacks of the project wait for calls to end or for their receivers.';
    throw new ServiceError('callback_queue_full', message);
  }
  return url.href;
}
