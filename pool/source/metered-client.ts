import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { ResponseBudget } from './response-budget.ts';

/**
 * Maximum time for parsing responses per turn of the event loop, in ms, because hits wait for it.
 */
const maxMsPerTurn = 2;

/**
 * Shares the parsing time in a turn of the event loop among this process's connections to origins.
 */
export class ReadTurns {
  #spentMs = 0;
  #isScheduled = false;
  #waiting: (() => void)[] = [];

  /** True when connections must wait for the next turn. */
  get isOver(): boolean {
    return this.#spentMs >= maxMsPerTurn;
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    this.#schedule();
  }

  /** Calls `resume` in one of the next turns, in call order. */
  wait(resume: () => void): void {
    this.#waiting.push(resume);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#spentMs = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [index, resume] of waiting.entries()) {
      if (this.isOver) {
        this.#waiting = [...waiting.slice(index), ...this.#waiting];
        this.#schedule();
        return;
      }
      resume();
    }
  }
}

export interface MeteredRequest extends Dispatcher.DispatchOptions {
  readonly budget: ResponseBudget;
}

export type MeteredClientOptions = Client.Options & {
  readonly connect: buildConnector.connector;
};

const turns = new ReadTurns();

/** Up to TLS 1.2 a server could request one handshake after the other. */
export const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;

/**
 * An HTTP/1.1 client that limits a response's work. undici limits neither the number of chunks,
 * headers and informational responses, which each call its parser, nor bytes outside them.
 */
export class MeteredClient extends Client {
  /** The current request's budget. After the request, it covers bytes that arrive late. */
  #budget = new ResponseBudget();

  constructor(origin: string | URL, { connect, ...options }: MeteredClientOptions) {
    const metered: buildConnector.connector = (target, callback) =>
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        meter(socket, () => this.#budget);
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
    }
    return super.dispatch(request, handler);
  }
}

/** Counts bytes that a socket receives and undici takes: it calls `read` until it returns null. */
function meter(socket: Socket, budget: () => ResponseBudget): void {
  const count = (bytes: number): boolean => attempt(socket, () => budget().countRead(bytes));
  const { push, read } = socket;
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk !== null && !count(chunk.byteLength)) return false;
    return push.call(socket, chunk, encoding);
  };
  // A TLS 1.3 server can send endless tickets, which contain no bytes for the parser.
  socket.on('session', () => count(0));

  let parsed: { readonly bytes: number; readonly since: number } | null = null;
  /** Counts the bytes parsed since the last call. */
  const settle = (): boolean => {
    if (parsed === null) return true;
    const { bytes, since } = parsed;
    parsed = null;
    const ms = performance.now() - since;
    turns.spend(ms);
    return attempt(socket, () => budget().countParsed(bytes, ms));
  };
  let isWaiting = false;
  const resume = () => {
    isWaiting = false;
    if (!socket.destroyed) socket.emit('readable');
  };
  socket.read = (size?: number) => {
    // Node itself, to start reading.
    if (size === 0) return read.call(socket, 0);
    if (!settle()) return null;
    if (turns.isOver && socket.readableLength > 0) {
      if (!isWaiting) turns.wait(resume);
      isWaiting = true;
      return null;
    }
    const { readableLength, readableHighWaterMark } = socket;
    const { atOnce } = budget();
    const isPart = atOnce < readableLength;
    // A larger size would raise the mark.
    const chunk = read.call(socket, isPart ? Math.min(atOnce, readableHighWaterMark) : undefined);
    if (chunk !== null) parsed = { bytes: chunk.byteLength, since: performance.now() };
    return chunk;
  };
}

/** Closes the socket and returns false if `count` throws. */
function attempt(socket: Socket, count: () => void): boolean {
  try {
    count();
    return true;
  } catch (error) {
    socket.destroy(error instanceof Error ? error : undefined);
    return false;
  }
}
