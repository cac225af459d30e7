import type { operations } from '../generated/operations.ts';
import type {
  HealthStatus,
  Liveness,
  Operations,
  PrewarmReceipt,
  PrewarmStatus,
  PurgeReceipt,
  Readiness,
  Usage,
} from '../generated/schemas.ts';
import { type Clock, systemClock } from './clock.ts';
import { type ClientOptions, readOptions } from './connection.ts';
import { hasInput, type Input, operationList } from './operation.ts';
import { type PictureUrls, prewarmsOf } from './prewarms-of.ts';
import { healthRequest, type Page, pageRequestOf, requestOf } from './request.ts';
import { type CallOptions, type Request, send } from './send.ts';

type Fields<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;

/** The fields of an operation's path, query and body, whose names differ. */
export type OperationInput<Id extends keyof Operations> = Fields<Operations[Id]['path']> &
  Fields<Operations[Id]['query']> &
  Fields<Operations[Id]['body']>;

/** What a call of an operation resolves with. */
export type OperationResult<Id extends keyof Operations> = Id extends 'prewarmProjectImages'
  ? QueuedPrewarm
  : Id extends 'purgeProjectImages'
    ? QueuedPurge
    : Operations[Id]['result'];

export interface QueuedPrewarm extends PrewarmReceipt {
  /** The id for `getProjectPrewarm`. */
  readonly prewarmId: string;
}

export interface QueuedPurge extends PurgeReceipt {
  /** The id for `getProjectPurge`; null in the rare case that the service could not remember the purge. */
  readonly purgeId: string | null;
}

interface GetProjectUsage {
  (
    input: OperationInput<'getProjectUsage'> & { readonly format: 'csv' },
    options?: CallOptions,
  ): Promise<string>;
  (
    input: OperationInput<'getProjectUsage'> & { readonly format?: 'json' | undefined },
    options?: CallOptions,
  ): Promise<Usage>;
}

type Method<Id extends keyof Operations> = Id extends 'getProjectUsage'
  ? GetProjectUsage
  : unknown extends OperationInput<Id>
    ? (options?: CallOptions) => Promise<OperationResult<Id>>
    : (input: OperationInput<Id>, options?: CallOptions) => Promise<OperationResult<Id>>;

/** Every operation of the control plane, by its name in the OpenAPI document. */
type ControlPlane = { readonly [Id in keyof Operations]: Method<Id> };

type Table = typeof operations;

/** The operations whose result is a list that the service sends in pages. */
export type ListId = {
  [Id in keyof Operations]: Table[Id] extends { readonly isPaged: true } ? Id : never;
}[keyof Operations];

/** An item of the list that an operation resolves with. */
export type ListItem<Id extends ListId> = Operations[Id]['result'] extends readonly (infer Item)[]
  ? Item
  : never;

/**
 * The methods reject with an `ApiError`, a `ConnectionError`, a `TimeoutError`, or the reason of the call's
 * signal; and with a TypeError for a field that cannot be sent.
 */
export interface Client extends ControlPlane {
  /**
   * The items of a list, however long it is: the service is asked for pages, each when its items are needed.
   * `iterate('listProjects')` yields the projects in the order of their ids.
   */
  iterate<Id extends ListId>(
    operation: Id,
    input?: OperationInput<Id>,
    options?: CallOptions,
  ): AsyncGenerator<ListItem<Id>, void, undefined>;
  /** The health of the service and of what it depends on; also that of a service that is not healthy. */
  getHealth(options?: CallOptions): Promise<HealthStatus>;
  /** Whether a process of the service answers. */
  getLiveness(options?: CallOptions): Promise<Liveness>;
  /** Whether to send requests to this machine. */
  getReadiness(options?: CallOptions): Promise<Readiness>;
  /**
   * Queues exactly the images of a picture, in as few prewarm requests as they fit in. An image with
   * `fmt=auto` is warmed for each format of the service's SERVICE_AUTO_FORMATS, and for other browsers. If one of several requests
   * fails, those before it stay queued; warming the picture again is safe.
   *
   * @throws NotPrewarmableError before anything is queued
   */
  warm(picture: PictureUrls, options?: CallOptions): Promise<readonly WarmingPicture[]>;
  /**
   * Asks each second for the progress of prewarming, until its status is `done` or `failed`. A `signal` limits
   * the time.
   */
  waitForPrewarm(prewarm: PrewarmReference, options?: CallOptions): Promise<PrewarmStatus>;
}

export type PrewarmReference = OperationInput<'getProjectPrewarm'>;

/** A queued prewarm request of a picture. */
export interface WarmingPicture extends QueuedPrewarm {
  readonly projectId: string;
}

const progressEveryMs = 1_000;

/**
 * A client of the control plane.
 * @throws TypeError for an option that cannot be used
 */
export const createClient = (options: ClientOptions): Client =>
  createClientWith(options, systemClock);

/** A client with a given clock. */
export function createClientWith(options: ClientOptions, clock: Clock): Client {
  // The key is only in closures, so that nothing that prints the client can reach it.
  const connection = readOptions(options);
  const call = (request: Request<unknown>, callOptions: CallOptions = {}) =>
    send(request, callOptions, connection, clock);
  const client: Record<string, unknown> = {
    getHealth: (callOptions?: CallOptions) =>
      call(healthRequest('getHealth', '/api/health', 'ok', connection), callOptions),
    getLiveness: (callOptions?: CallOptions) =>
      call(healthRequest('getLiveness', '/api/health/live', 'ok', connection), callOptions),
    getReadiness: (callOptions?: CallOptions) =>
      call(healthRequest('getReadiness', '/api/ready', 'ready', connection), callOptions),
  };
  for (const operation of operationList()) {
    client[operation.id] = hasInput(operation)
      ? async (input: Input, callOptions?: CallOptions) =>
          call(requestOf(operation, input, connection), callOptions)
      : (callOptions?: CallOptions) => call(requestOf(operation, {}, connection), callOptions);
  }
  const iterate: Client['iterate'] = async function* (id, input, callOptions) {
    const operation = operationList().find((one) => one.id === id && one.isPaged);
    if (operation === undefined) throw new TypeError(`${id} is not an operation that lists`);
    let cursor: string | null = null;
    do {
      const request = pageRequestOf(operation, (input ?? {}) as Input, cursor, connection);
      const page = (await call(request, callOptions)) as Page;
      yield* page.items as readonly ListItem<typeof id>[];
      ({ cursor } = page);
    } while (cursor !== null);
  };
  // Each entry of the table has its method; the tests call all of them.
  const operations = client as unknown as ControlPlane;
  const warm: Client['warm'] = async (picture, callOptions) => {
    const warming: WarmingPicture[] = [];
    for (const prewarm of prewarmsOf(picture)) {
      const queued = await operations.prewarmProjectImages(prewarm, callOptions);
      warming.push({ ...queued, projectId: prewarm.projectId });
    }
    return warming;
  };
  const waitForPrewarm: Client['waitForPrewarm'] = async (prewarm, callOptions) => {
    for (;;) {
      const progress = await operations.getProjectPrewarm(prewarm, callOptions);
      if (progress.status !== 'accepted') return progress;
      await clock.sleep(progressEveryMs, callOptions?.signal);
    }
  };
  return Object.assign(client, { iterate, warm, waitForPrewarm }) as unknown as Client;
}
