import type { Socket } from 'node:net';
import type { Document } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import { type Budget, FrameReader } from './frame.ts';
import { type CommandReply, type CommandRequest, readRequest, writeReply } from './message.ts';

export type RunCommand = (command: Document) => Promise<CommandReply>;

export interface ConnectionTimeouts {
  /** Timeout of an incomplete message, and of a connection's first message, in ms. */
  readonly messageTimeoutMs: number;
  /** Timeout for a client to read a reply, in ms. */
  readonly replyTimeoutMs: number;
}

/** Requests of one connection are processed one at a time, in order. */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #run: RunCommand;
  readonly #limits: ConnectionTimeouts;
  #timeout: NodeJS.Timeout | undefined;
  #serving = false;
  #stopped = false;

  constructor(socket: Socket, budget: Budget, run: RunCommand, limits: ConnectionTimeouts) {
    this.#socket = socket;
    this.#reader = new FrameReader(budget);
    this.#run = run;
    this.#limits = limits;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(this.#timeout);
      this.#reader.release();
    });
    this.#startTimeout(limits.messageTimeoutMs);
  }

  stopReading(): void {
    this.#stopped = true;
  }

  /** Closes the connection after pending writes. */
  end(): void {
    this.#socket.destroySoon();
  }

  #receive(chunk: Buffer): void {
    try {
      this.#reader.push(chunk);
    } catch {
      this.#socket.destroy();
      return;
    }
    if (!this.#serving && !this.#stopped) void this.#serve();
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    try {
      let message = this.#reader.take();
      while (message !== null && !this.#socket.destroyed && !this.#stopped) {
        // A client that does not read its replies must not fill the buffers.
        this.#socket.pause();
        clearTimeout(this.#timeout);
        await this.#handle(message);
        message = this.#reader.take();
      }
      if (this.#reader.partial) this.#startTimeout(this.#limits.messageTimeoutMs);
      this.#socket.resume();
    } catch {
      // A protocol violation or a bug in this server: only this connection is closed.
      this.#socket.destroy();
    } finally {
      this.#serving = false;
    }
  }

  async #handle(message: Buffer): Promise<void> {
    const request = readRequest(message);
    let reply: CommandReply;
    try {
      reply = await this.#run(request.command());
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      reply = { ok: 0, ...error.fields };
    }
    if (!this.#socket.destroyed) await this.#send(replyBytes(request, reply));
  }

  async #send(bytes: Buffer): Promise<void> {
    if (this.#socket.write(bytes)) return;
    this.#startTimeout(this.#limits.replyTimeoutMs);
    await new Promise<void>((resolve) => {
      const settle = () => {
        this.#socket.off('drain', settle).off('close', settle);
        resolve();
      };
      this.#socket.on('drain', settle).on('close', settle);
    });
    clearTimeout(this.#timeout);
  }

  #startTimeout(ms: number): void {
    clearTimeout(this.#timeout);
    this.#timeout = setTimeout(() => this.#socket.destroy(), ms);
  }
}

function replyBytes(request: CommandRequest, reply: CommandReply): Buffer {
  try {
    return writeReply(request, reply);
  } catch {
    const error = new ReplyError(10334, 'the reply exceeds the maximum message size');
    return writeReply(request, { ok: 0, ...error.fields });
  }
}
