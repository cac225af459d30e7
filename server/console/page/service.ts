/** Relative, because a proxy may add a prefix. */
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
  const field = (name: string) => String((body as Record<string, unknown> | null)?.[name] ?? '');
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
  readonly createdAt: string;
  readonly requireSignedUrls: boolean;
  readonly defaultQuality: number;
  readonly defaultDpr: number;
  readonly [field: string]: unknown;
}

/** What has become of a prewarm request. */
export interface PrewarmStatus {
  readonly status: 'accepted' | 'done' | 'failed';
  /** Percent. */
  readonly progress: number;
  readonly sourceCount: number;
  readonly variantCount: number;
  /** Numbers of sources. */
  readonly sources: Readonly<Record<'waiting' | 'running' | 'done' | 'failed', number>>;
  readonly failures: ReadonlyArray<{ readonly source: string; readonly reason: string }>;
}

/** What has become of a purge. */
export interface PurgeStatus {
  readonly status: 'accepted' | 'done' | 'failed';
  /** 0 for all images. */
  readonly sourceCount: number;
  readonly hook: {
    readonly status: 'none' | 'waiting' | 'done' | 'failed';
    readonly reason: string;
  };
}

/** Image parameters under a name. */
export interface Preset {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
}

/** An image or a text to draw on pictures. */
export interface Layer {
  readonly name: string;
  readonly image?: Readonly<Record<string, unknown>>;
  readonly text?: Readonly<Record<string, unknown>>;
}

/** How the sources of a host are fetched, without any secret. */
export interface ProjectOrigin {
  readonly host: string;
  readonly headers: readonly string[];
  /** Of a bucket; null for an HTTP origin. */
  readonly location: string | null;
  readonly updatedAt: string;
}

/** An API key of a project, without its secret. */
export interface ProjectKey {
  readonly id: string;
  readonly name: string;
  readonly access: 'read' | 'write';
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

export interface Signing {
  readonly required: boolean;
  readonly ttlSeconds: number | null;
  readonly secretCount: number;
}

/** A request that tells the end of a call. */
export interface Callback {
  readonly id: string;
  readonly subject: string;
  readonly callId: string;
  readonly url: string;
  readonly status: 'waiting' | 'done' | 'failed';
  readonly failureCount: number;
  readonly reason: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

/** What was counted on a day, or on several. */
export interface UsageFigures {
  readonly requests: number;
  /** By cache. */
  readonly hits: Readonly<Record<string, number>>;
  readonly misses: number;
  readonly errors: number;
  readonly bytes: number;
  readonly renders: number;
  readonly renderSeconds: number;
  readonly background: Readonly<Record<'requests' | 'renders' | 'renderSeconds', number>>;
}

export interface UsageBody {
  readonly days: readonly UsageFigures[];
  readonly total: UsageFigures;
}

/** What runs. */
export interface ServiceVersion {
  readonly service: string;
  readonly node: string;
  readonly platform: string;
}

/** The fields of responses; each response has one of them, and what its headers refer to. */
export interface ResponseBody {
  /** The query of the next page of a list; null for the last page. */
  readonly next: string | null;
  /** The id of what the response's `Location` names; null without one. */
  readonly locatedId: string | null;
  readonly version: ServiceVersion;
  readonly project: Project;
  readonly projects: readonly Project[];
  readonly prewarm: PrewarmStatus;
  readonly purge: PurgeStatus;
  readonly usage: UsageBody;
  readonly limits: Readonly<Record<string, number | null>>;
  readonly freshness: Readonly<Record<string, string | number | null>>;
  readonly preset: Preset;
  readonly presets: readonly Preset[];
  readonly layer: Layer;
  readonly layers: readonly Layer[];
  readonly origin: ProjectOrigin;
  readonly origins: readonly ProjectOrigin[];
  readonly key: ProjectKey & { readonly secret: string };
  readonly keys: readonly ProjectKey[];
  readonly signing: Signing & { readonly secret?: string };
  readonly signedUrl: { readonly url: string; readonly expiresAt: string };
  readonly callbacks: readonly Callback[];
}

/** Calls the control plane. @throws Failure, or TypeError without a response */
export type Api = (method: string, path: string, body?: unknown) => Promise<ResponseBody>;

/** The control plane with an API key. */
export function apiWithKey(key: string): Api {
  return async (method, path, body) => {
    const response = await fetch(`${prefix}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'omit',
      cache: 'no-store',
      // The browser sends it also when the page ends meanwhile.
      keepalive: method === 'DELETE',
    });
    if (!response.ok) throw await failureOf(response);
    const [, next = null] =
      /<(\?[^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    const json = response.status === 204 ? {} : await response.json();
    // A proxy may have changed the path before it.
    const locatedId = response.headers.get('location')?.split('/').at(-1) ?? null;
    return { ...json, next, locatedId };
  };
}
