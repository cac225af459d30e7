import type { Socket } from 'node:net';
import type { Document } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import {
  type CommandReply,
  type CommandRequest,
  FrameReader,
  readRequest,
  writeReply,
} from './message.ts';

export type RunCommand = (command: Document) => Promise<CommandReply>;

/**
 * Processes a connection's requests in order, without concurrency and without timeouts: only
 * processes running as the service's user can connect.
 */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #run: RunCommand;
  #serving = false;
  #stopped = false;

  constructor(socket: Socket, run: RunCommand) {
    this.#socket = socket;
    this.#run = run;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => socket.destroy());
  }

  stopReading(): void {
    this.#stopped = true;
  }

  /** Closes the connection after pending writes. */
  end(): void {
    this.#socket.destroySoon();
  }

  #receive(chunk: Buffer): void {
    this.#reader.push(chunk);
    if (!this.#serving && !this.#stopped) void this.#serve();
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    try {
      let message = this.#reader.take();
      while (message !== null && !this.#socket.destroyed && !this.#stopped) {
        // A client that does not read its replies must not fill the buffers.
        this.#socket.pause();
        await this.#handle(message);
        message = this.#reader.take();
      }
      this.#socket.resume();
    } catch {
      // After a protocol violation or a bug in this server, closes only this connection.
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
    const bytes = replyBytes(request, reply);
    // Until the client has read it, or has disconnected.
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
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
