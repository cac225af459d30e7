/** Origins send one or two, such as 103. */
const maxInformational = 8;
/**
 * Limit on bytes outside the body, such as heads, chunk sizes and trailers: a fixed part, and a
 * part that grows with the body.
 */
const freeOverheadBytes = 32 * 1024;
const overheadPart = 1 / 4;
/**
 * Maximum compressed bytes in excess of the decoded bytes. Codings add 0.1% to incompressible
 * bytes, but a body can contain parts that decode to zero bytes, such as gzip members. A decoder
 * can hold back about 128 KB.
 */
const maxUndecodedBytes = 256 * 1024;
/**
 * Limit on pieces, such as chunks and TLS records. Some servers send images line by line, 256 bytes
 * on average.
 */
const freePieces = 1_024;
const bytesPerPiece = 128;
/**
 * A response that costs more than its body is worth. `fetch-errors.ts` contains the text for
 * `code`.
 */
export class ResponseTooCostly extends Error {
  override readonly name = 'ResponseTooCostly';
  readonly code: string;

  constructor(code: string) {
    super(`the response exceeds a limit: ${code}`);
    this.code = code;
  }
}

/**
 * The work that an origin can cause by a response, in addition to its body's bytes, which the
 * body's reader limits.
 */
export class ResponseBudget {
  /** Whether the final response has arrived, with its body's length. */
  isLengthKnown = false;
  #informational = 0;
  #pieces = 0;
  #bodyBytes = 0;
  /** Compressed bytes less decoded ones. */
  #undecodedBytes = 0;

  /** Counts a response before the final one. @throws ResponseTooCostly */
  countInformational(): void {
    this.#informational += 1;
    if (this.#informational > maxInformational) throw new ResponseTooCostly('TOO_MANY_RESPONSES');
  }

  /**
   * Counts a part of the body as the parser returns it, or a piece without bytes for it.
   * @throws ResponseTooCostly
   */
  countPiece(bytes: number): void {
    this.#pieces += 1;
    this.#bodyBytes += bytes;
    if (this.#pieces > freePieces + this.#bodyBytes / bytesPerPiece) {
      throw new ResponseTooCostly('TOO_MANY_PIECES');
    }
  }

  /** @param bytes that the parser has taken for the response. @throws ResponseTooCostly */
  countTaken(bytes: number): void {
    const overhead = bytes - this.#bodyBytes;
    if (overhead > freeOverheadBytes + overheadPart * this.#bodyBytes) {
      throw new ResponseTooCostly('TOO_MUCH_OVERHEAD');
    }
  }

  /** Counts decoded compressed bytes. @throws ResponseTooCostly */
  countCoded(bytes: number): void {
    this.#undecodedBytes += bytes;
    if (this.#undecodedBytes > maxUndecodedBytes) throw new ResponseTooCostly('TOO_MUCH_OVERHEAD');
  }

  /** Counts the bytes that compressed bytes decode to. */
  countDecoded(bytes: number): void {
    this.#undecodedBytes -= bytes;
  }
}
