import type { Document } from './bson/value.ts';

/** The error codes that this server replies with, and their names in the protocol. */
const CODE_NAMES = {
  1: 'InternalError',
  2: 'BadValue',
  9: 'FailedToParse',
  14: 'TypeMismatch',
  15: 'Overflow',
  18: 'AuthenticationFailed',
  20: 'IllegalOperation',
  22: 'InvalidBSON',
  26: 'NamespaceNotFound',
  27: 'IndexNotFound',
  28: 'PathNotViable',
  40: 'ConflictingUpdateOperators',
  43: 'CursorNotFound',
  52: 'DollarPrefixedFieldName',
  54: 'NotSingleValueField',
  56: 'EmptyFieldName',
  59: 'CommandNotFound',
  66: 'ImmutableField',
  67: 'CannotCreateIndex',
  72: 'InvalidOptions',
  73: 'InvalidNamespace',
  85: 'IndexOptionsConflict',
  86: 'IndexKeySpecsConflict',
  115: 'CommandNotSupported',
  171: 'CannotIndexParallelArrays',
  322: 'APIVersionError',
  352: 'UnsupportedOpQueryCommand',
  10334: 'BSONObjectTooLarge',
  11000: 'DuplicateKey',
  14031: 'OutOfDiskSpace',
  31249: 'Location31249',
  31254: 'Location31254',
  40234: 'Location40234',
  40323: 'Location40323',
  40573: 'Location40573',
} as const;

export type ErrorCode = keyof typeof CODE_NAMES;

/** A refusal that reaches the client as the protocol's error reply. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: ErrorCode;
  /** Further fields of the reply, such as `keyPattern` and `keyValue` of a duplicate key. */
  readonly details: Document;

  constructor(code: ErrorCode, message: string, details: Document = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get codeName(): string {
    return CODE_NAMES[this.code];
  }
}

/** For what the protocol has and this server does not do: better refused by name than guessed. */
export function notSupported(what: string): CommandError {
  return new CommandError(115, `${what} is not supported by the embedded store`);
}
