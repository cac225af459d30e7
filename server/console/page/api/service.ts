import type * as sdk from '@image-delivery/sdk/client';
import { formText } from './format.ts';
import { prefix } from './openapi.ts';

/** An error response, or a missing response. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** HTTP status, or 0 if there was no response. */
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
    return new Failure(0, 'no_response', 'The service does not respond.', hint);
  }
}

/** Returns the failure of an error response. */
export async function readFailure(response: Response): Promise<Failure> {
  const body: unknown = await response.json().catch(() => null);
  const field = (name: string) => String((body as Record<string, unknown> | null)?.[name] ?? '');
  const message = field('message') || `The service returned ${response.status}.`;
  return new Failure(response.status, field('code'), message, field('resolution_hint'));
}

/** Returns the JSON at a public path. @param accepts error statuses to accept */
export async function fetchJson(
  path: string,
  accepts: (status: number) => boolean = (status) => status === 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const response = await fetch(path, { headers: { accept: 'application/json', ...headers } });
  if (!accepts(response.status)) throw await readFailure(response);
  return response.json();
}

/** The fields of responses; each response contains one of them, and data from its headers. */
export interface ResponseBody {
  /** The query for a list's next page, or null on the last page. */
  readonly next: string | null;
  /** The id in the response's `Location`, or null. */
  readonly locatedId: string | null;
  readonly version: sdk.ServiceVersion;
  readonly project: sdk.Project;
  readonly projects: readonly sdk.Project[];
  readonly prewarm: sdk.PrewarmStatus;
  readonly purge: sdk.PurgeStatus;
  readonly usage: sdk.Usage;
  readonly top: sdk.Top;
  readonly failures: readonly sdk.ImageFailure[];
  readonly limits: sdk.Limits;
  readonly freshness: sdk.Freshness;
  readonly preset: sdk.Preset;
  readonly presets: readonly sdk.Preset[];
  readonly layer: sdk.Layer;
  readonly layers: readonly sdk.Layer[];
  readonly origin: sdk.ProjectOrigin;
  readonly origins: readonly sdk.ProjectOrigin[];
  readonly hosts: readonly sdk.DeliveryHost[];
  readonly urlMeaning: sdk.UrlMeaning;
  readonly urlSecret: sdk.UrlSecret;
  readonly urlSecrets: readonly sdk.UrlSecret[];
  readonly key: sdk.NewProjectKey;
  readonly keys: readonly sdk.ProjectKey[];
  readonly signing: sdk.Signing | sdk.NewSigningSecret;
  readonly signedUrl: sdk.SignedUrl;
  readonly callbacks: readonly sdk.Callback[];
}

/** Calls the control plane. @throws Failure, or TypeError if there is no response */
export type Api = (method: string, path: string, body?: unknown) => Promise<ResponseBody>;

/** Returns the control plane client for an API key. */
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
      // The browser completes the request even if the page closes.
      keepalive: method === 'DELETE',
    });
    if (!response.ok) throw await readFailure(response);
    const [, next = null] =
      /<(\?[^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    const json = response.status === 204 ? {} : await response.json();
    // A proxy might have changed the path prefix.
    const locatedId = response.headers.get('location')?.split('/').at(-1) ?? null;
    return { ...json, next, locatedId };
  };
}

/** A form's errors by field name. */
export type FieldErrors = ReadonlyMap<string, string>;

export const noErrors: FieldErrors = new Map();

/** The key of an error about the item's own name, which never collides with a field name. */
export const nameKey = '';

/** `parameters.crop must …`, `sources[1] (https://…) must …`, `the name of a preset must …`. */
const pattern =
  /^(?:the name of a \w+|(?:\w+\.)?(\w+)(?:\[(\d+)\](?:\.\w+)*)?(?: \(.*?\))?) ((?:must|is|needs|has) .+)$/s;

/** Returns the errors listed in a refusal, by the field name of the innermost object. */
export function toFieldErrors(failure: Failure | null): FieldErrors {
  if (failure?.status !== 400) return noErrors;
  return new Map(
    failure.message
      .replace(/\.$/, '')
      .split('; ')
      .flatMap((error) => {
        const [, name = nameKey, index, rule] = pattern.exec(error) ?? [];
        if (rule === undefined) return [];
        const subject = index === undefined ? 'It' : `Number ${Number(index) + 1}`;
        return [[name, formText(`${subject} ${rule}.`)] as const];
      }),
  );
}
