import { ServiceError } from '../../contract/errors.ts';
import { canonicalHostPattern } from '../../contract/hosts.ts';
import type { Network } from '../../contract/networks.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { answered } from '../../store/deadline.ts';
import type { JobQueue } from '../../store/jobs.ts';
import type { ApiKey } from '../../store/keys.ts';
import type { Projects } from '../../store/projects.ts';
import { clientAddress, clientNetwork } from '../http/client-address.ts';
import { errorResponse } from '../http/error-response.ts';
import type { Headers, HttpRequest } from '../http/request.ts';
import { hasTooManyParameters, tooManyParameters } from '../image/address.ts';
import { failureOf, storeUnavailable } from '../store-failure.ts';
import { type Authentication, authorise, readKey, requireProductAccess } from './authenticate.ts';
import { type Endpoint, type EndpointId, findEndpoint, type Match } from './endpoints.ts';
import { bareHostRule } from './hosts.ts';
import { InvalidJson, parseJson } from './json.ts';
import type { PresetResource } from './preset-resource.ts';
import { queuePrewarm } from './prewarm.ts';
import type { ProjectResource } from './project-resource.ts';
import type { RateLimit } from './rate-limit.ts';
import { configurationBody, projectBody } from './representation.ts';
import type { Input, InputName } from './validate.ts';

const maxBodyBytes = 64 * 1024;

export interface ControlPlaneEnvironment {
  readonly authentication: Authentication;
  readonly rateLimit: RateLimit;
  /** Whether the store can be asked; a request does not wait for one that is known not to answer. */
  readonly storeAvailable: () => boolean;
  readonly projects: Pick<Projects, 'organisationOf'>;
  readonly operations: ProjectResource;
  readonly presets: PresetResource;
  readonly guard: AddressGuard;
  readonly queue: Pick<JobQueue, 'add'>;
  readonly baseUrl: string;
  /** Proxies whose X-Forwarded-For names the client. */
  readonly trustedProxies: readonly Network[];
  /** Called with an error that is not the client's fault. */
  readonly onError: (request: HttpRequest, error: unknown) => void;
}

/** A request that passed every check except the existence of its project. */
interface Call {
  readonly key: ApiKey;
  readonly projectId: string;
  readonly presetName: string;
  readonly input: unknown;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

/** The control plane (spec part 4.4): all operations go through the same checks. */
export class ControlPlane {
  readonly #environment: ControlPlaneEnvironment;

  constructor(environment: ControlPlaneEnvironment) {
    this.#environment = environment;
  }

  /** Handles a request; the order of the checks is part of the interface. */
  async handle(request: HttpRequest): Promise<void> {
    const match = findEndpoint(request.method, request.path);
    // The app has checked the path and the method.
    if (match === null) throw new Error(`no operation for ${request.method} ${request.path}`);
    const contentType = request.header('content-type');
    const query = request.query;
    const credentials = [request.header('authorization'), request.header('x-service-api-key')];
    const client = clientNetwork(clientAddress(request, this.#environment.trustedProxies));
    const body = match.endpoint.input === undefined ? null : request.readBody(maxBodyBytes);
    // When an earlier check fails, the body is not awaited, and its rejection must not be unhandled.
    body?.catch(() => {});

    let limitHeaders: Headers = [];
    try {
      const { authentication, projects, rateLimit, storeAvailable } = this.#environment;
      const [authorization = '', serviceApiKey = ''] = credentials;
      // Before the store is asked for it, so that this failure does not depend on the store.
      readKey(authorization, serviceApiKey);
      if (!storeAvailable()) throw storeUnavailable();
      const credential = await authentication.authenticate(authorization, serviceApiKey, client);
      const { key } = credential;
      // Counted before the other checks, so that every response to a valid key has the rate limit headers.
      const limit = await answered(rateLimit.consume(key._id));
      limitHeaders = limit.headers;
      requireProductAccess(credential);
      if (limit.failure !== null) throw limit.failure;
      await authorise(key, match.endpoint, match.projectId, projects);
      const input = await readInput(match.endpoint, await body, contentType, query);
      const { status, name } = match.endpoint.success;
      const { signal } = request;
      const result = await this.#run(match, {
        key,
        projectId: match.projectId ?? '',
        presetName: match.presetName ?? '',
        input,
        signal,
      });
      request.respond({
        status,
        headers: [...jsonHeaders, ...limitHeaders],
        body: JSON.stringify({ [name]: result }),
      });
    } catch (error) {
      const failure = failureOf(error);
      // When a client leaves while it sends the body, reading it fails, which is not logged as an error.
      if (failure.code === 'internal_error' && !request.signal.aborted) {
        this.#environment.onError(request, error);
      }
      const { headers, ...response } = errorResponse(failure);
      request.respond({ ...response, headers: [...headers, ...limitHeaders] });
    }
  }

  #run({ id }: Match, call: Call): Promise<unknown> {
    return this.#handlers[id](call);
  }

  readonly #handlers: Readonly<Record<EndpointId, (call: Call) => Promise<unknown>>> = {
    listProjects: async ({ key }) => {
      const projects = await this.#environment.operations.list(key);
      return projects.map(projectBody);
    },
    createProject: async ({ key, input }) =>
      projectBody(
        await this.#environment.operations.create(typed('CreateProjectInput', input), key.orgId),
      ),
    getProject: async ({ projectId }) =>
      projectBody(await this.#environment.operations.find(projectId)),
    getProjectConfiguration: async ({ projectId }) =>
      configurationBody(
        await this.#environment.operations.find(projectId),
        this.#environment.baseUrl,
      ),
    updateProjectSettings: async ({ projectId, input, signal }) => {
      const settings = typed('ProjectSettingsInput', input);
      return projectBody(await this.#environment.operations.update(projectId, settings, signal));
    },
    prewarmProjectImages: async ({ projectId, input }) => {
      const { guard, queue, operations } = this.#environment;
      const project = await operations.find(projectId);
      return queuePrewarm(project, typed('PrewarmInput', input), guard, queue);
    },
    addProjectDomain: async ({ projectId, input }) =>
      projectBody(
        await this.#environment.operations.addHost(projectId, typed('DomainInput', input)),
      ),
    removeProjectDomain: async ({ projectId, input }) =>
      projectBody(
        await this.#environment.operations.removeHost(projectId, typed('DomainInput', input)),
      ),
    listProjectPresets: ({ projectId }) => this.#environment.presets.list(projectId),
    getProjectPreset: ({ projectId, presetName }) =>
      this.#environment.presets.find(projectId, presetName),
    putProjectPreset: ({ projectId, presetName, input }) =>
      this.#environment.presets.put(projectId, presetName, typed('PresetInput', input)),
    deleteProjectPreset: ({ projectId, presetName }) =>
      this.#environment.presets.remove(projectId, presetName),
  };
}

const jsonHeaders: Headers = [
  ['content-type', 'application/json'],
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

/** The input of a call, with the type of the schema that it was validated with. */
function typed<N extends InputName>(_name: N, input: unknown): Input<N> {
  return input as Input<N>;
}

/**
 * The input of an operation, validated.
 * @throws ServiceError invalid_request with every fault
 */
async function readInput(
  operation: Endpoint,
  body: Uint8Array | null,
  contentType: string,
  query: string,
): Promise<unknown> {
  if (operation.input === undefined) return undefined;
  const invalid = (message: string): ServiceError => new ServiceError('invalid_request', message);
  if (hasTooManyParameters(query)) throw invalid(tooManyParameters);
  const [host, ...more] = operation.inputOptional ? new URLSearchParams(query).getAll('host') : [];
  // Rejected, as a name twice in the body is: readers could disagree on which one counts.
  if (more.length > 0) throw invalid('host is given more than once.');
  if (body === null) throw invalid(`The body has more than ${maxBodyBytes} bytes.`);
  if (body.byteLength === 0) {
    if (host !== undefined) return { host };
    throw invalid(
      operation.inputOptional
        ? 'host is required, in the query or in the body.'
        : 'A JSON body is required.',
    );
  }
  if (!/^application\/json *(?:; *charset="?utf-8"? *)?$/i.test(contentType)) {
    throw invalid('The content type must be application/json.');
  }
  const input = readJson(body);
  // Loaded and compiled when the first input has to be validated.
  const { validationErrors: faultsOf } = await import('./validate.ts');
  const faults = faultsOf(operation.input, input);
  if (faults.length > 0) throw invalid(`${faults.join('; ')}.`);
  if (host === undefined) return input;
  // The query's host wins. What comes beside it must be valid all the same, as the schema says.
  const { host: beside } = typed('DomainInput', input);
  if (canonicalHostPattern(beside) === null) throw invalid(`host ${bareHostRule}.`);
  return { host };
}

function readJson(body: Uint8Array): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    throw new ServiceError('invalid_request', `The body was rejected: ${error.message}.`);
  }
}
