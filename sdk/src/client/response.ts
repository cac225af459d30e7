import type { Connection } from './connection.ts';
import { ApiError } from './errors.ts';

/** A whole response. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Null when it is longer than the client reads. */
  readonly text: string | null;
}

/** Returns the response's JSON object, or null. */
export function readObject({ headers, text }: Answer): Readonly<Record<string, unknown>> | null {
  if (text === null || !/^application\/json\b/i.test(headers.get('content-type') ?? ''))
    return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

/** Maximum length per response text in an error. */
const maxCharacters = 8_192;

/** Creates the error for a response that is not the operation's result. */
export function createError(operation: string, answer: Answer, connection: Connection): ApiError {
  const { status, headers } = answer;
  const bounded = (text: string) => connection.redact(text).slice(0, maxCharacters);
  const { code, message, resolution_hint: hint } = readObject(answer) ?? {};
  const requestId = headers.get('x-request-id');
  const common = {
    operation,
    status,
    requestId: requestId === null ? null : bounded(requestId),
    retryAfter: readRetryAfter(headers.get('retry-after')),
  };
  if (status >= 400 && typeof code === 'string' && typeof message === 'string') {
    return new ApiError(bounded(message), {
      ...common,
      code: bounded(code),
      hint: typeof hint === 'string' ? bounded(hint) : null,
    });
  }
  const unexpected = { ...common, code: 'unexpected_response', hint: null };
  return new ApiError(describe(answer, connection), unexpected);
}

/** Describes a response without quoting its text, which can repeat the key. */
function describe({ status, headers, text }: Answer, connection: Connection): string {
  const { baseUrl, maxResponseBytes, redact } = connection;
  // Browsers hide the status of a redirect.
  if (status === 0 || (status >= 300 && status < 400)) {
    const location = headers.get('location') ?? '';
    const target = URL.canParse(location, baseUrl)
      ? redact(new URL(location, baseUrl).origin)
      : 'elsewhere';
    return `${baseUrl} redirects to ${target}. Redirects are not followed, because the key is for baseUrl only: set baseUrl to the address of the service itself.`;
  }
  if (text === null) {
    return `The response of status ${status} has more than ${maxResponseBytes} bytes; raise maxResponseBytes to allow more.`;
  }
  const type = headers.get('content-type') ?? 'without a content type';
  return `The response is not the service's (${status}, ${redact(type).slice(0, 100)}). It may come from a proxy in front of it, or baseUrl (${baseUrl}) may be wrong.`;
}

/** Returns whole seconds, including for a date (RFC 9110, 10.2.3); null if the value is neither. */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - Date.now()) / 1_000));
}

/** Returns the response body as text, or null if it exceeds the maximum. */
export async function readText(response: Response, maxBytes: number): Promise<string | null> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      // A failed cancel does not affect the result.
      reader.cancel().catch(() => {});
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}
