import { connect, type Socket } from 'node:net';

/** A raw response. */
export interface RawResponse {
  readonly status: number;
  /** Names in lower case; a repeated header is an error. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/**
 * A strict HTTP/1.1 client (RFC 9112): a surplus or missing byte breaks the next response.
 */
export class StrictConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  #wake = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  static open(port: number): Promise<StrictConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new StrictConnection(socket)));
      socket.once('error', reject);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Returns false once the server has closed the connection or sent surplus bytes. */
  get clean(): boolean {
    return !this.#ended && this.#received.length === 0;
  }

  /** Resolves when the server has closed the connection; false when it sent more before. */
  async end(): Promise<boolean> {
    return (await this.rest()) === '';
  }

  /** Returns all bytes until the server closes the connection. */
  async rest(): Promise<string> {
    while (!this.#ended) await this.#more();
    return this.#received.toString('latin1');
  }

  async request(
    method: string,
    target: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RawResponse> {
    const lines = Object.entries({ host: 'test', ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    this.send(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
    return this.response(method);
  }

  /** Sends raw bytes. */
  send(bytes: string): void {
    this.#socket.write(bytes, 'latin1');
  }

  /** Returns the next response, for a request with that method. */
  async response(method = 'GET'): Promise<RawResponse> {
    const head = (await this.#take(headLength)).toString('latin1');
    const [statusLine = '', ...fields] = head.slice(0, -4).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) \S.*$/.exec(statusLine)?.[1];
    if (status === undefined) throw new Error(`no status line: ${statusLine}`);
    const found = new Map<string, string>();
    for (const field of fields) {
      const [, name = '', value = ''] =
        /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(field) ?? [];
      if (name === '') throw new Error(`no header field: ${field}`);
      if (found.has(name.toLowerCase())) throw new Error(`a second ${name}`);
      found.set(name.toLowerCase(), value);
    }
    const response = { status: Number(status), headers: found };
    return { ...response, body: await this.#take(() => bodyLength(method, response)) };
  }

  /** @param length the number of bytes to take; null while unknown */
  async #take(length: (received: Buffer) => number | null): Promise<Buffer> {
    for (;;) {
      const wanted = length(this.#received);
      if (wanted !== null && this.#received.length >= wanted) {
        const taken = this.#received.subarray(0, wanted);
        this.#received = this.#received.subarray(wanted);
        return taken;
      }
      if (this.#ended) throw new Error('the connection ended in the middle of a response');
      await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function headLength(received: Buffer): number | null {
  const end = received.indexOf('\r\n\r\n');
  return end === -1 ? null : end + 4;
}

/** Returns the body length by RFC 9112, 6.3. The service sends no chunks. */
function bodyLength(method: string, response: Omit<RawResponse, 'body'>): number {
  const { status, headers } = response;
  const length = headers.get('content-length');
  if (length !== undefined && !/^(0|[1-9]\d{0,9})$/.test(length)) {
    throw new Error(`content-length: ${length}`);
  }
  if (method === 'HEAD' || [100, 204, 304].includes(status)) return 0;
  if (headers.has('transfer-encoding')) throw new Error('a transfer coding');
  if (length === undefined) throw new Error('a body without a length');
  return Number(length);
}
