import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { ResponseBudget } from './response-budget.ts';

export interface MeteredRequest extends Dispatcher.DispatchOptions {
  readonly budget: ResponseBudget;
}

export type MeteredClientOptions = Client.Options & {
  readonly connect: buildConnector.connector;
};

/**
 * Maximum bytes to parse at once, unless they belong to a body with known length. A chunk from the
 * socket can contain 16,000 headers, and undici parses all of them even if the first ones exceed its
 * limit, with an error for each: up to a second in which no other request is served.
 */
const parsedAtOnce = 4_096;

/**
 * An HTTP/1.1 client that counts the bytes of responses against their budgets. Handlers of requests
 * count what undici passes to them, but it passes no byte of empty lines before a response and of
 * chunk extensions, which can be endless.
 */
export class MeteredClient extends Client {
  /** The current request's budget. After the request, it covers bytes that arrive late. */
  #budget = new ResponseBudget();
  #socket: Socket | null = null;
  /** Bytes that the parser had taken from the socket when the request started. */
  #takenBefore = 0;

  constructor(origin: string | URL, { connect, ...options }: MeteredClientOptions) {
    const metered: buildConnector.connector = (target, callback) =>
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        this.#meter(socket);
        callback(null, socket);
      });
    super(origin, { ...options, connect: metered, pipelining: 1, allowH2: false });
  }

  get budget(): ResponseBudget {
    return this.#budget;
  }

  override dispatch(
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    // Without pipelining, requests are dispatched in sequence.
    if ('budget' in request && request.budget instanceof ResponseBudget) {
      this.#budget = request.budget;
      this.#takenBefore = this.#socket === null ? 0 : takenBytes(this.#socket);
    }
    return super.dispatch(request, handler);
  }

  #meter(socket: Socket): void {
    this.#socket = socket;
    // A proxy has sent its own response on the socket of a tunnel.
    this.#takenBefore = takenBytes(socket);
    const attempt = (count: () => void) => {
      try {
        count();
      } catch (error) {
        socket.destroy(error as Error);
      }
    };
    const { read } = socket;
    // undici calls it without a size, until it returns null; Node itself with 0.
    socket.read = (size?: number) => {
      if (size === 0) return read.call(socket, 0);
      attempt(() => this.#budget.countTaken(takenBytes(socket) - this.#takenBefore));
      if (socket.destroyed) return null;
      const isPart = !this.#budget.isLengthKnown && socket.readableLength > parsedAtOnce;
      return read.call(socket, isPart ? parsedAtOnce : undefined);
    };
    // A TLS 1.3 server can send endless tickets, which contain no bytes for the parser.
    socket.on('session', () => attempt(() => this.#budget.countPiece(0)));
  }
}

/** Returns the number of bytes, decrypted if they were, that were read from a socket. */
const takenBytes = (socket: Socket): number => socket.bytesRead - socket.readableLength;
