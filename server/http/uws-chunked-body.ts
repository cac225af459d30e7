/** The part of the library's response that receives a body. */
interface Receiver {
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
}

/** Maximum bytes to receive before the response. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Receives a chunked request body before the response, which must close the connection.
 * uWebSockets.js accepts bare line feeds after chunk sizes, and any two bytes after a chunk (unlike
 * RFC 9112, 7.1): it could find another request within a body that a proxy forwarded.
 */
export class ChunkedBody {
  #onChunk = (_: Uint8Array) => {};
  #onEnd = () => {};
  #onReceived = () => {};
  /** Whether the response can be sent. */
  isReceived = false;

  constructor(res: Receiver) {
    let bytes = 0;
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      this.#onChunk(new Uint8Array(chunk));
      if (isLast) this.#onEnd();
      if (this.isReceived || (!isLast && bytes <= maxBytes)) return;
      this.isReceived = true;
      this.#onReceived();
    });
  }

  /** @see BaseRequest.receiveBody */
  read(onChunk: (chunk: Uint8Array) => void, onEnd: () => void): void {
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
  }

  /** Sets the function to call when the response can be sent. */
  onReceived(callback: () => void): void {
    this.#onReceived = callback;
  }
}
