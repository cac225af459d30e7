/** Origins send one or two, such as 103. */
const maxInformational = 10;
/**
 * Limit on bytes outside the body, such as heads, chunk sizes and trailers: a fixed part, and a
 * part that grows with the body.
 */
const freeOverheadBytes = 64 * 1024;
const overheadPart = 1 / 4;
/**
 * Maximum compressed bytes in excess of the decoded bytes. Codings add 0.1% to incompressible
 * bytes, but a body can contain parts that decode to zero bytes, such as gzip members. A decoder
 * can hold back some 128 KB.
 */
const maxUndecodedBytes = 256 * 1024;
/**
 * Limit on pieces, such as chunks and TLS records. Some servers send images line by line, 256 bytes
 * on average.
 */
const freePieces = 1_024;
const bytesPerPiece = 128;
/** Parsing 1 MB takes a millisecond; the free time allows for a busy machine. */
const freeParsingMs = 500;
const parsingMsPerByte = 50 / 1e6;
/** Maximum bytes to parse at once, unless they belong to a body with known length. */
const parsedAtOnce = 4_096;

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
  #informational = 0;
  #parsedBytes = 0;
  #parsingMs = 0;
  #readBytes = 0;
  #reads = 0;
  #bodyBytes = 0;
  #chunks = 0;
  /** Compressed bytes less decoded ones. */
  #undecodedBytes = 0;
  /** Remaining bytes of a body with known length. */
  #expectedBytes = 0;

  /** The bytes that the parser can receive at once. */
  get atOnce(): number {
    return Math.max(parsedAtOnce, this.#expectedBytes);
  }

  /** Counts a TCP segment's or TLS record's bytes. @throws Error */
  countRead(bytes: number): void {
    this.#reads += 1;
    this.#readBytes += bytes;
    requirePieces(this.#reads, this.#readBytes);
  }

  /** Counts a response before the final one. @throws Error */
  countInformational(): void {
    this.#informational += 1;
    if (this.#informational > maxInformational) throw new ResponseTooCostly('TOO_MANY_RESPONSES');
  }

  /** @param length the final response's Content-Length, or null */
  expectBody(length: number | null): void {
    this.#expectedBytes = length ?? 0;
  }

  /** Counts a part of the body as the parser returns it. @throws Error */
  countBody(bytes: number): void {
    this.#chunks += 1;
    this.#bodyBytes += bytes;
    this.#expectedBytes = Math.max(0, this.#expectedBytes - bytes);
    requirePieces(this.#chunks, this.#bodyBytes);
  }

  /** Counts decoded compressed bytes. @throws Error */
  countCoded(bytes: number): void {
    this.#undecodedBytes += bytes;
    if (this.#undecodedBytes > maxUndecodedBytes) throw new ResponseTooCostly('TOO_MUCH_OVERHEAD');
  }

  /** Counts the bytes that compressed bytes decode to. */
  countDecoded(bytes: number): void {
    this.#undecodedBytes -= bytes;
  }

  /** Counts bytes that the parser got, and the time that it took for them. @throws Error */
  countParsed(bytes: number, ms: number): void {
    this.#parsedBytes += bytes;
    this.#parsingMs += ms;
    const overhead = this.#parsedBytes - this.#bodyBytes;
    if (overhead > freeOverheadBytes + overheadPart * this.#bodyBytes) {
      throw new ResponseTooCostly('TOO_MUCH_OVERHEAD');
    }
    if (this.#parsingMs > freeParsingMs + parsingMsPerByte * this.#parsedBytes) {
      throw new ResponseTooCostly('PARSING_TOO_SLOW');
    }
  }
}

function requirePieces(pieces: number, bytes: number): void {
  if (pieces > freePieces + bytes / bytesPerPiece) throw new ResponseTooCostly('TOO_MANY_PIECES');
}
