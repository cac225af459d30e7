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
import { type ClientOptions, readOptions } from './connection.ts';
import {
  createPageRequest,
  createRequest,
  hasInput,
  healthRequest,
  type Input,
  operationList,
  type Page,
} from './request.ts';
import { type CallOptions, type Clock, type Request, send, systemClock } from './send.ts';
import { type PictureUrls, toPrewarms } from './to-prewarms.ts';

type Fields<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;

/** Fields for an operation's path, query and body; their names are distinct. */
export type OperationInput<Id extends keyof Operations> = Fields<Operations[Id]['path']> &
  Fields<Operations[Id]['query']> &
  Fields<Operations[Id]['body']>;

/** The value that a call to the operation resolves with. */
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
  /**
   * The id for `getProjectPurge`; null in the rare case that the service could not record the
   * purge.
   */
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

/** Operations with a paged list as their result. */
export type ListId = {
  [Id in keyof Operations]: Table[Id] extends { readonly isPaged: true } ? Id : never;
}[keyof Operations];

/** An item of the list that an operation resolves with. */
export type ListItem<Id extends ListId> = Operations[Id]['result'] extends readonly (infer Item)[]
  ? Item
  : never;

/**
 * The methods reject with an `ApiError`, a `ConnectionError`, a `TimeoutError`, or the reason in
 * the call's signal; for a field that cannot be sent, with a TypeError.
 */
export interface Client extends ControlPlane {
  /**
   * Iterates over a list's items, however long the list is, and requests each page when its items
   * are needed. `iterate('listProjects')` yields projects by ascending id.
   */
  iterate<Id extends ListId>(
    operation: Id,
    input?: OperationInput<Id>,
    options?: CallOptions,
  ): AsyncGenerator<ListItem<Id>, void, undefined>;
  /** Returns the health of the service and its dependencies, even if the service is unhealthy. */
  getHealth(options?: CallOptions): Promise<HealthStatus>;
  /** Checks whether a process of the service responds. */
  getLiveness(options?: CallOptions): Promise<Liveness>;
  /** Whether to send requests to this machine. */
  getReadiness(options?: CallOptions): Promise<Readiness>;
  /**
   * Queues exactly the images that a `picture` requests, in as few prewarm requests as possible.
   * Warms an image with `fmt=auto` in each format of the service's SERVICE_AUTO_FORMATS, and once
   * for other browsers. If a request fails, earlier requests stay queued; warming the picture again
   * is safe.
   *
   * @throws NotPrewarmableError before anything is queued
   */
  warm(picture: PictureUrls, options?: CallOptions): Promise<readonly WarmingPicture[]>;
  /**
   * Polls the prewarming progress each second until its status is `done` or `failed`. A `signal`
   * limits the time.
   */
  waitForPrewarm(prewarm: PrewarmReference, options?: CallOptions): Promise<PrewarmStatus>;
}

export type PrewarmReference = OperationInput<'getProjectPrewarm'>;

/** A queued prewarm request for a picture. */
export interface WarmingPicture extends QueuedPrewarm {
  readonly projectId: string;
}

const progressEveryMs = 1_000;

/**
 * Creates a control plane client.
 * @throws TypeError for an invalid option
 */
export const createClient = (options: ClientOptions): Client =>
  createClientWith(options, systemClock);

/** A client with a given clock. */
export function createClientWith(options: ClientOptions, clock: Clock): Client {
  // Only closures hold the key, so that printing the client cannot reveal it.
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
          call(createRequest(operation, input, connection), callOptions)
      : (callOptions?: CallOptions) => call(createRequest(operation, {}, connection), callOptions);
  }
  const iterate: Client['iterate'] = async function* (id, input, callOptions) {
    const operation = operationList().find((entry) => entry.id === id && entry.isPaged);
    if (operation === undefined) throw new TypeError(`${id} is not an operation that lists`);
    let cursor: string | null = null;
    do {
      const request = createPageRequest(operation, (input ?? {}) as Input, cursor, connection);
      const page = (await call(request, callOptions)) as Page;
      yield* page.items as readonly ListItem<typeof id>[];
      ({ cursor } = page);
    } while (cursor !== null);
  };
  // Each table entry has a matching method; the tests call all methods.
  const operations = client as unknown as ControlPlane;
  const warm: Client['warm'] = async (picture, callOptions) => {
    const warming: WarmingPicture[] = [];
    for (const prewarm of toPrewarms(picture)) {
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
