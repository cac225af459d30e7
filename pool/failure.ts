/**
 * Every way in which the engine can fail a request. The codes are part of the service's public
 * error catalogue; what HTTP status each has is decided where HTTP is spoken.
 */
export type EngineFailureCode =
  | 'parameter_invalid'
  | 'source_invalid'
  | 'source_not_allowed'
  | 'source_blocked'
  | 'source_not_found'
  | 'source_too_large'
  | 'source_unsupported'
  | 'source_corrupt'
  | 'source_unreachable'
  | 'source_timeout'
  | 'transform_timeout'
  | 'overloaded'
  | 'internal_error';

/** A failure as plain data: errors lose their fields when they cross a thread or a process. */
export interface FailureData {
  readonly code: EngineFailureCode;
  /** For the person who reads the response; holds nothing secret. */
  readonly message: string;
}

/** Thrown by the engine. `cause` is for the log, never for the response. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';
  readonly code: EngineFailureCode;

  constructor(code: EngineFailureCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  static from(data: FailureData): EngineFailure {
    return new EngineFailure(data.code, data.message);
  }

  /** The same of a picture's watermark, which is a source too. */
  ofWatermark(): EngineFailure {
    return new EngineFailure(
      this.code,
      `The watermark cannot be used. ${this.message}`,
      this.cause,
    );
  }

  toData(): FailureData {
    return { code: this.code, message: this.message };
  }
}
