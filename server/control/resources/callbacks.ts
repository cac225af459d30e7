import { ServiceError } from '../../../contract/errors.ts';
import { callbackStates, callbackSubjects, type Delivery } from '../../../store/callbacks.ts';
import { privateHostError, readUrl, urlRule } from '../hosts-and-urls.ts';
import { listResult, operation } from '../operation.ts';
import { type BodyOf, count, named, strictObject } from '../schema.ts';
import { findProject, type Services } from '../services.ts';
import { invalidRequest } from '../validation-messages.ts';

const callback = named(
  'Callback',
  {
    description: 'A request that notifies a client when its prewarming or purge ends.',
    ...strictObject({
      id: { type: 'string', description: '`webhook-id` of the request.' },
      subject: { type: 'string', enum: callbackSubjects },
      callId: { type: 'string', description: 'Id of the prewarming or purge.' },
      url: {
        type: 'string',
        description: 'Callback URL without its query, which can contain secrets.',
      },
      status: {
        type: 'string',
        enum: callbackStates,
        description:
          '`waiting` for the call to end or for the next attempt; `done` and `failed` are final.',
      },
      failureCount: { ...count, description: 'Failed attempts.' },
      reason: {
        type: ['string', 'null'],
        description: 'Why the last attempt failed; null if it succeeded.',
      },
      createdAt: { type: 'string', format: 'date-time' },
      endedAt: {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'When the last attempt ended; null before the first attempt.',
      },
    }),
  },
  {
    id: '6921f3c2a8a5c1d2e3f40516',
    subject: 'prewarm',
    callId: 'pre_9gx41acb9wtykf3m',
    url: 'https://shop.example.com/hooks',
    status: 'waiting',
    failureCount: 2,
    reason: 'the receiver returned 503',
    createdAt: '2026-11-20T09:31:32.000Z',
    endedAt: '2026-11-20T09:31:47.000Z',
  },
);

const toBody = ({ createdAt, endedAt, ...delivery }: Delivery): BodyOf<typeof callback> => ({
  ...delivery,
  createdAt: createdAt.toISOString(),
  endedAt: endedAt?.toISOString() ?? null,
});

export const callbackOperations = {
  listProjectCallbacks: operation({
    method: 'GET',
    path: '/projects/{projectId}/callbacks',
    summary: 'List the last callbacks',
    description:
      "Lists the project's last 50 callback requests, newest first. The queue keeps finished requests for a while.",
    result: listResult('callbacks', callback),
    handle: async ({ path: { projectId } }, services) => {
      await findProject(services, projectId);
      return (await services.deliveries.latest(projectId)).map(toBody);
    },
  }),
};

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
      'callbackUrl needs SERVICE_HOOK_SECRET, which only the operator can set: omit callbackUrl until then',
    );
  }
  const url = readUrl(text);
  if (url === null) throw invalidRequest(`callbackUrl ${urlRule}`);
  const error = privateHostError(url, guard);
  if (error !== null) throw invalidRequest(`callbackUrl ${error}`);
  if (!(await callbacks.hasRoom(projectId))) {
    const message = 'The project has too many undelivered callbacks.';
    throw new ServiceError('callback_queue_full', message);
  }
  return url.href;
}
