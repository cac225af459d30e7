import { ServiceError } from '../../contract/errors.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { type Callbacks, CallbacksFull } from '../../store/callbacks.ts';
import { privateHostError, readUrl, urlRule } from './hosts-and-urls.ts';

/**
 * Checks the `callbackUrl` of an input, before its call has an effect.
 *
 * @param callbacks null when the settings have no secret that signs them
 * @returns the URL; null without one
 * @throws ServiceError invalid_request; callback_queue_full
 */
export async function readCallback(
  text: string | undefined,
  projectId: string,
  guard: AddressGuard,
  callbacks: Pick<Callbacks, 'requireRoom'> | null,
): Promise<string | null> {
  if (text === undefined) return null;
  if (callbacks === null) {
    throw invalid('needs SERVICE_HOOK_SECRET, which the operator has not set');
  }
  const url = readUrl(text);
  if (url === null) throw invalid(urlRule);
  const error = privateHostError(url, guard);
  if (error !== null) throw invalid(error);
  await callbacks.requireRoom(projectId).catch((error: unknown) => {
    if (!(error instanceof CallbacksFull)) throw error;
    const message =
      'Too many callbacks of the project wait for calls to end or for their receivers.';
    throw new ServiceError('callback_queue_full', message);
  });
  return url.href;
}

const invalid = (rule: string) => new ServiceError('invalid_request', `callbackUrl ${rule}.`);
