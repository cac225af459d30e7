/** Requests to the service of this page. URLs are relative, because a proxy may add a prefix. */

const prefix = 'api/sdk/v1';

/** An error response of the service, or none. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  readonly code: string;
  readonly hint: string;

  constructor(status: number, code: string, message: string, hint: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }

  static of(error: unknown): Failure {
    if (error instanceof Failure) return error;
    const hint = 'Check that the service runs and that this machine reaches it.';
    return new Failure(0, 'no_response', 'The service does not answer.', hint);
  }
}

/** The failure of a response with an error status. */
export async function failureOf(response: Response): Promise<Failure> {
  const body: unknown = await response.json().catch(() => null);
  const field = (name: string): string =>
    body !== null && typeof body === 'object' && name in body
      ? String((body as Record<string, unknown>)[name])
      : '';
  const message = field('message') || `The service answered ${response.status}.`;
  return new Failure(response.status, field('code'), message, field('resolution_hint'));
}

/** The JSON at a public path. @param accepts the statuses that are not errors */
export async function fetchJson(
  path: string,
  accepts: (status: number) => boolean = (status) => status === 200,
): Promise<unknown> {
  const response = await fetch(path, { headers: { accept: 'application/json' } });
  if (!accepts(response.status)) throw await failureOf(response);
  return response.json();
}

/** A project in responses of the control plane. */
export interface Project {
  readonly id: string;
  readonly name: string;
  readonly origin: string;
  readonly allowedOrigins: readonly string[];
  readonly color1: string;
  readonly createdAt: string;
  readonly requireSignedUrls: boolean;
  readonly [field: string]: unknown;
}

/** The response to a prewarm request. */
export interface Receipt {
  readonly sourceCount: number;
  readonly variantCount: number;
}

/** Image parameters under a name. */
export interface Preset {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
}

/** The control plane, with the user's key. */
export class Api {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  async #call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(`${prefix}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'omit',
      cache: 'no-store',
    }).catch((error: unknown) => {
      throw Failure.of(error);
    });
    if (!response.ok) throw await failureOf(response);
    return response.json();
  }

  async projects(): Promise<readonly Project[]> {
    return (await this.#call('GET', '/projects'))['projects'] as readonly Project[];
  }

  create(input: unknown): Promise<Project> {
    return this.#project('POST', '/projects', input);
  }

  update(id: string, settings: unknown): Promise<Project> {
    return this.#project('PATCH', `${at(id)}/settings`, settings);
  }

  allow(id: string, host: string): Promise<Project> {
    return this.#project('POST', `${at(id)}/domains`, { host });
  }

  disallow(id: string, host: string): Promise<Project> {
    return this.#project('DELETE', `${at(id)}/domains?host=${encodeURIComponent(host)}`);
  }

  async prewarm(id: string, input: unknown): Promise<Receipt> {
    return (await this.#call('POST', `${at(id)}/prewarm`, input))['prewarm'] as Receipt;
  }

  async presets(id: string): Promise<readonly Preset[]> {
    return (await this.#call('GET', `${at(id)}/presets`))['presets'] as readonly Preset[];
  }

  /** Creates or replaces a preset. */
  async keepPreset(id: string, name: string, input: unknown): Promise<Preset> {
    return (await this.#call('PUT', atPreset(id, name), input))['preset'] as Preset;
  }

  /** Resolves with the remaining presets. */
  async removePreset(id: string, name: string): Promise<readonly Preset[]> {
    return (await this.#call('DELETE', atPreset(id, name)))['presets'] as readonly Preset[];
  }

  async #project(method: string, path: string, body?: unknown): Promise<Project> {
    return (await this.#call(method, path, body))['project'] as Project;
  }
}

const at = (id: string): string => `/projects/${encodeURIComponent(id)}`;
const atPreset = (id: string, name: string): string =>
  `${at(id)}/presets/${encodeURIComponent(name)}`;
