import { ApiError, type Client, createClient } from '@image-delivery/sdk/client';
import { formText } from './format.ts';

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
    if (error instanceof ApiError) {
      return new Failure(error.status, error.code, error.message, error.hint ?? '');
    }
    const hint = 'Check that the service is running and that this machine can reach it.';
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

/** Calls the control plane. */
export type Api = Client;

/** Returns the control plane client for an API key. @throws TypeError for an impossible key */
export const apiWithKey = (apiKey: string): Api =>
  createClient({
    apiKey,
    // A proxy can add a prefix.
    baseUrl: new URL('.', location.href).href,
    retries: { count: 0 },
    fetch: (url, init) =>
      fetch(url, {
        ...init,
        credentials: 'omit',
        cache: 'no-store',
        // The browser completes the request even if the page closes.
        keepalive: init?.method === 'DELETE',
      }),
  });

/** Calls an operation by its id. */
export const callOperation = (api: Api, id: string, input: object): Promise<unknown> =>
  (api as unknown as Readonly<Record<string, (input: object) => Promise<unknown>>>)[id]?.(input) ??
  Promise.reject(new Error(`no operation ${id}`));

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
