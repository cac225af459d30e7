import { ServiceError } from '../../contract/errors.ts';
import { canonicalHostPattern } from '../../contract/hosts.ts';
import type { Network } from '../../contract/networks.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { withTimeout } from '../../store/deadline.ts';
import type { ApiKey } from '../../store/keys.ts';
import type { Projects } from '../../store/projects.ts';
import type { PurgeRecords } from '../../store/purge-records.ts';
import { clientAddress, clientNetwork } from '../http/client-address.ts';
import { errorResponse } from '../http/error-response.ts';
import { csvHeaders, jsonHeaders } from '../http/headers.ts';
import type { Headers, HttpRequest } from '../http/request.ts';
import { hasTooManyParameters, tooManyParameters } from '../image/address.ts';
import { storeFailureOf, storeUnavailable } from '../store-failure.ts';
import type { UsageRecorder } from '../usage/usage.ts';
import { type Authentication, authorise, readKey, requireProductAccess } from './authenticate.ts';
import { type Endpoint, type EndpointId, findEndpoint } from './endpoints.ts';
import { bareHostRule } from './hosts-and-urls.ts';
import { InvalidJson, parseJson } from './json.ts';
import type { LayerResource } from './layer-resource.ts';
import { List, readPageQuery } from './list.ts';
import type { OriginResource } from './origin-resource.ts';
import type { PresetResource } from './preset-resource.ts';
import { type PrewarmStore, queuePrewarm } from './prewarm.ts';
import { findPrewarm, findPurge } from './progress.ts';
import type { ProjectResource } from './project-resource.ts';
import type { RateLimit } from './rate-limit.ts';
import { configurationBody, freshnessBody, limitsBody, projectBody } from './representation.ts';
import { Csv, usageBody, usageCsv } from './usage-body.ts';
import { readUsageQuery } from './usage-query.ts';
import type { Input, InputName } from './validate.ts';

const defaultBodyBytes = 64 * 1024;

export interface ControlPlaneEnvironment extends PrewarmStore {
  readonly authentication: Authentication;
  readonly rateLimit: RateLimit;
  /** False while the store is known to be unavailable: requests then fail at once. */
  readonly storeAvailable: () => boolean;
  readonly storedProjects: Pick<Projects, 'organisationOf'>;
  readonly projects: ProjectResource;
  readonly presets: PresetResource;
  readonly layers: LayerResource;
  readonly origins: OriginResource;
  readonly purges: Pick<PurgeRecords, 'find'>;
  readonly usage: Pick<UsageRecorder, 'days'>;
  readonly guard: AddressGuard;
  readonly baseUrl: string;
  /** Proxies whose X-Forwarded-For names the client. */
  readonly trustedProxies: readonly Network[];
  /** Called with errors that the client did not cause. */
  readonly onError: (request: HttpRequest, error: unknown) => void;
}

/** A request that passed every check except the existence of its project. */
interface Call {
  readonly key: ApiKey;
  readonly projectId: string;
  readonly presetName: string;
  readonly layerName: string;
  /** Of the path. */
  readonly host: string;
  readonly prewarmId: string;
  readonly purgeId: string;
  readonly input: unknown;
  /** As in the request. */
  readonly query: string;
  readonly accept: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Sets the `Location` of the response, relative to the request's URL, which a proxy may have changed. */
  readonly locate: (reference: string) => void;
}

/** The operations of the OpenAPI document below `/api/sdk/v1`; all pass the same checks. */
export class ControlPlane {
  readonly #environment: ControlPlaneEnvironment;
  readonly #handlers: Handlers;

  constructor(environment: ControlPlaneEnvironment) {
    this.#environment = environment;
    this.#handlers = handlersOf(environment);
  }

  /** Handles a request; the order of the checks is part of the interface. */
  async handle(request: HttpRequest): Promise<void> {
    const match = findEndpoint(request.method, request.path);
    if (match === null) throw new Error(`the router passed ${request.method} ${request.path}`);
    const { endpoint, projectId, presetName, layerName, host, prewarmId, purgeId } = match;
    const { signal, query, accept } = request;
    const contentType = request.header('content-type');
    const authorization = request.header('authorization');
    const serviceApiKey = request.header('x-service-api-key');
    const client = clientNetwork(clientAddress(request, this.#environment.trustedProxies));
    const body = endpoint.input === undefined ? null : request.readBody(bodyLimitOf(endpoint));
    // After a failed check the body is not awaited; its rejection must not be unhandled.
    body?.catch(() => {});

    let limitHeaders: Headers = [];
    try {
      const { authentication, storedProjects, rateLimit, storeAvailable } = this.#environment;
      // Before the store is checked: a missing key is an error in any case.
      readKey(authorization, serviceApiKey);
      if (!storeAvailable()) throw storeUnavailable();
      const credential = await authentication.authenticate(authorization, serviceApiKey, client);
      const { key } = credential;
      // Before the other checks: every response to a valid key has the rate limit headers.
      const limit = await withTimeout(rateLimit.consume(key._id));
      limitHeaders = limit.headers;
      requireProductAccess(credential);
      if (limit.failure !== null) throw limit.failure;
      await authorise(key, endpoint, projectId, storedProjects);
      const input = await readInput(endpoint, await body, contentType, query);
      let location: Headers = [];
      const call: Call = {
        key,
        projectId: projectId ?? '',
        presetName: presetName ?? '',
        layerName: layerName ?? '',
        host: host ?? '',
        prewarmId: prewarmId ?? '',
        purgeId: purgeId ?? '',
        input,
        query,
        accept,
        signal,
        locate: (reference) => {
          location = [['location', reference]];
        },
      };
      const result = await this.#handlers[match.id](call);
      const { status, name } = endpoint.success;
      const isCsv = result instanceof Csv;
      const isList = result instanceof List;
      const links = isList ? result.headers : [];
      const json = () =>
        isList ? `{"${name}":[${result.json}]}` : JSON.stringify({ [name]: result });
      request.respond({
        status,
        headers: [...(isCsv ? csvHeaders : jsonHeaders), ...links, ...location, ...limitHeaders],
        body: isCsv ? result.text : json(),
      });
    } catch (error) {
      const failure = storeFailureOf(error);
      // A client that disconnects while it sends the body makes reading fail, which is not logged.
      if (failure.code === 'internal_error' && !signal.aborted) {
        this.#environment.onError(request, error);
      }
      const { headers, ...response } = errorResponse(failure);
      request.respond({ ...response, headers: [...headers, ...limitHeaders] });
    }
  }
}

type Handlers = Readonly<Record<EndpointId, (call: Call) => Promise<unknown>>>;

function handlersOf(environment: ControlPlaneEnvironment): Handlers {
  const { projects, presets, layers, origins, guard, prewarms, purges, usage, baseUrl } =
    environment;
  return {
    listProjects: async ({ key, query, signal }) =>
      projects.list(key, readPageQuery(query), signal),
    createProject: async ({ key, input }) =>
      projectBody(await projects.create(typed('CreateProjectInput', input), key.orgId)),
    getProject: async ({ projectId }) => projectBody(await projects.find(projectId)),
    getProjectConfiguration: async ({ projectId }) =>
      configurationBody(await projects.find(projectId), baseUrl),
    updateProjectSettings: async ({ projectId, input, signal }) => {
      const settings = typed('ProjectSettingsInput', input);
      return projectBody(await projects.update(projectId, settings, signal));
    },
    prewarmProjectImages: async ({ projectId, input, locate }) => {
      const project = await projects.find(projectId);
      const prewarm = typed('PrewarmInput', input);
      const { id, receipt } = await queuePrewarm(project, prewarm, guard, environment);
      locate(`prewarms/${id}`);
      return receipt;
    },
    getProjectPrewarm: async ({ projectId, prewarmId }) => {
      await projects.find(projectId);
      return findPrewarm(prewarms, projectId, prewarmId);
    },
    purgeProjectImages: async ({ projectId, input, locate }) => {
      const { id, receipt } = await projects.purge(projectId, typed('PurgeInput', input));
      if (id !== null) locate(`purges/${id}`);
      return receipt;
    },
    getProjectPurge: async ({ projectId, purgeId }) => {
      await projects.find(projectId);
      return findPurge(purges, projectId, purgeId);
    },
    getProjectFreshness: async ({ projectId }) => freshnessBody(await projects.find(projectId)),
    putProjectFreshness: async ({ projectId, input }) =>
      freshnessBody(await projects.setFreshness(projectId, typed('FreshnessInput', input))),
    getProjectUsage: async ({ projectId, query, accept }) => {
      const asked = readUsageQuery(query, accept, Date.now());
      await projects.find(projectId);
      const body = usageBody(asked, await usage.days(projectId, asked.from, asked.to));
      return asked.format === 'csv' ? usageCsv(body) : body;
    },
    getProjectLimits: async ({ projectId }) => limitsBody(await projects.find(projectId)),
    putProjectLimits: async ({ projectId, input }) =>
      limitsBody(await projects.setLimits(projectId, typed('LimitsInput', input))),
    addProjectDomain: async ({ projectId, input }) =>
      projectBody(await projects.addHost(projectId, typed('DomainInput', input))),
    removeProjectDomain: async ({ projectId, input }) =>
      projectBody(await projects.removeHost(projectId, typed('DomainInput', input))),
    listProjectOrigins: ({ projectId, query }) =>
      listed(query, () => origins.list(projectId), hostOf),
    putProjectOrigin: ({ projectId, host, input }) =>
      origins.put(projectId, host, typed('ProjectOriginInput', input)),
    deleteProjectOrigin: ({ projectId, host }) => origins.remove(projectId, host),
    listProjectPresets: ({ projectId, query }) =>
      listed(query, () => presets.list(projectId), nameOf),
    getProjectPreset: ({ projectId, presetName }) => presets.find(projectId, presetName),
    putProjectPreset: ({ projectId, presetName, input }) =>
      presets.put(projectId, presetName, typed('PresetInput', input)),
    deleteProjectPreset: ({ projectId, presetName }) => presets.remove(projectId, presetName),
    listProjectLayers: ({ projectId, query }) =>
      listed(query, () => layers.list(projectId), nameOf),
    getProjectLayer: ({ projectId, layerName }) => layers.find(projectId, layerName),
    putProjectLayer: ({ projectId, layerName, input }) =>
      layers.put(projectId, layerName, typed('LayerInput', input)),
    deleteProjectLayer: ({ projectId, layerName }) => layers.remove(projectId, layerName),
  };
}

const nameOf = ({ name }: { readonly name: string }): string => name;
const hostOf = ({ host }: { readonly host: string }): string => host;

/** A list that is in memory with its project. */
async function listed<T>(
  query: string,
  find: () => Promise<readonly T[]>,
  keyOf: (item: T) => string,
): Promise<List> {
  const page = readPageQuery(query);
  return List.of(await find(), keyOf, page);
}

/** The input of a call, with the type of the schema that validated it. */
function typed<N extends InputName>(_name: N, input: unknown): Input<N> {
  return input as Input<N>;
}

const bodyLimitOf = ({ maxBodyBytes = defaultBodyBytes }: Endpoint): number => maxBodyBytes;

const invalid = (message: string) => new ServiceError('invalid_request', message);

/**
 * The validated input of an operation.
 * @throws ServiceError invalid_request with every error
 */
async function readInput(
  endpoint: Endpoint,
  body: Uint8Array | null,
  contentType: string,
  query: string,
): Promise<unknown> {
  if (endpoint.input === undefined) return undefined;
  if (hasTooManyParameters(query)) throw invalid(tooManyParameters);
  const [host, ...more] = endpoint.inputOptional ? new URLSearchParams(query).getAll('host') : [];
  // Rejected like a repeated name in the body, which parsers read differently.
  if (more.length > 0) throw invalid('host is given more than once.');
  if (body === null) throw invalid(`The body has more than ${bodyLimitOf(endpoint)} bytes.`);
  if (body.byteLength === 0) {
    if (host !== undefined) return { host };
    throw invalid(
      endpoint.inputOptional
        ? 'host is required, in the query or in the body.'
        : 'A JSON body is required.',
    );
  }
  if (!/^application\/json *(?:; *charset="?utf-8"? *)?$/i.test(contentType)) {
    throw invalid('The content type must be application/json.');
  }
  const input = readJson(body);
  // Loaded with the first body, because compiling the schemas takes time.
  const { validationErrors } = await import('./validate.ts');
  const errors = validationErrors(endpoint.input, input);
  if (errors.length > 0) throw invalid(`${errors.join('; ')}.`);
  if (host === undefined) return input;
  // The query takes precedence; the body must be valid nevertheless.
  const { host: hostInBody } = typed('DomainInput', input);
  if (canonicalHostPattern(hostInBody) === null) throw invalid(`host ${bareHostRule}.`);
  return { host };
}

function readJson(body: Uint8Array): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    throw invalid(`The body was rejected: ${error.message}.`);
  }
}
