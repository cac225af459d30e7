import type { Dispatcher } from 'undici';
import type { BodyWriter } from './body.ts';
import type { Connections } from './connections.ts';
import { ResponseBudget } from './response-budget.ts';

export interface ResponseHead {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Takes the chunks of a body, and returns the body at its end. */
export interface Writer extends Pick<BodyWriter, 'write' | 'discard'> {
  finish(): Uint8Array | Promise<Uint8Array>;
}

export interface Response extends ResponseHead {
  /** The body's length as sent. */
  readonly receivedBytes: number;
  /** The body, which the caller must release; null if not wanted. */
  readonly bytes: Uint8Array | null;
}

/** Maximum bytes of an unwanted body to receive, so that its connection can be reused. */
const maxUnwantedBytes = 16 * 1024;

/**
 * Sends a request, and writes its response's body as it arrives: no stream, because each chunk
 * would cost several promises. An abort ends the request immediately, and cancels the rest of an
 * unwanted body.
 *
 * @param writerFor called with the response head. Returns null if the body is not wanted: the
 *   exchange then ends after the head
 * @throws the signal's reason, or an error from undici, `writerFor` or the writer
 */
export function exchange(
  connections: Pick<Connections, 'dispatch'>,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  writerFor: (head: ResponseHead, budget: ResponseBudget) => Writer | null,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let controller: Dispatcher.DispatchController | null = null;
    let head: ResponseHead | null = null;
    let writer: Writer | null = null;
    let receivedBytes = 0;
    const budget = new ResponseBudget();

    const fail = (error: unknown) => {
      signal.removeEventListener('abort', abort);
      writer?.discard();
      writer = null;
      reject(error);
    };
    const abort = () => {
      fail(signal.reason);
      controller?.abort(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });

    // undici ends a request with the error that a function of its handler throws.
    connections.dispatch(
      { ...request, budget },
      {
        onRequestStart(started) {
          controller = started;
          // A request waiting for a connection cannot be aborted.
          if (signal.aborted) controller.abort(signal.reason);
        },
        onResponseStart(_, status, headers) {
          const isInformational = status < 200;
          if (isInformational) return budget.countInformational();
          head = { status, headers };
          budget.isLengthKnown = contentLength(head) !== null;
          writer = writerFor(head, budget);
          if (writer === null) resolve({ ...head, receivedBytes, bytes: null });
        },
        onResponseData(_, chunk) {
          budget.countPiece(chunk.byteLength);
          receivedBytes += chunk.byteLength;
          if (writer !== null) return writer.write(chunk);
          if (receivedBytes > maxUnwantedBytes) throw new Error('The body is not wanted.');
        },
        onResponseEnd() {
          const end = (bytes: Uint8Array | null) => {
            signal.removeEventListener('abort', abort);
            writer = null;
            if (head !== null) resolve({ ...head, receivedBytes, bytes });
          };
          const bytes = writer?.finish() ?? null;
          if (bytes instanceof Promise) bytes.then(end, fail);
          else end(bytes);
        },
        onResponseError: (_, error) => fail(error),
      },
    );
  });
}

/**
 * Returns the Content-Length, or null. undici accepts at most one, and verifies the body's length.
 */
export function contentLength({ headers }: ResponseHead): number | null {
  const header = headers['content-length'];
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}
