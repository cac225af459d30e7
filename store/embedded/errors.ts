/** The codes of error replies, with MongoDB's names. */
const codeNames = {
  1: 'InternalError',
  2: 'BadValue',
  9: 'FailedToParse',
  14: 'TypeMismatch',
  15: 'Overflow',
  18: 'AuthenticationFailed',
  22: 'InvalidBSON',
  28: 'PathNotViable',
  40: 'ConflictingUpdateOperators',
  43: 'CursorNotFound',
  52: 'DollarPrefixedFieldName',
  56: 'EmptyFieldName',
  59: 'CommandNotFound',
  66: 'ImmutableField',
  67: 'CannotCreateIndex',
  73: 'InvalidNamespace',
  85: 'IndexOptionsConflict',
  86: 'IndexKeySpecsConflict',
  115: 'CommandNotSupported',
  352: 'UnsupportedOpQueryCommand',
  10334: 'BSONObjectTooLarge',
  11000: 'DuplicateKey',
  14031: 'OutOfDiskSpace',
} as const;

export type ReplyCode = keyof typeof codeNames;

interface Fields {
  readonly [field: string]: unknown;
}

/** Sent to the client as an error reply. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly code: ReplyCode;
  /** Additional reply fields, such as `keyPattern` and `keyValue` for a duplicate key. */
  readonly details: Fields;

  constructor(code: ReplyCode, message: string, details: Fields = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  /** Fields for an error reply or a `writeErrors` entry. */
  get fields(): Fields {
    const { code, message: errmsg, details } = this;
    return { errmsg, code, codeName: codeNames[code], ...details };
  }
}

/** @param what the feature's name, for the message */
export function notSupported(what: string): ReplyError {
  return new ReplyError(115, `${what} is not supported by the embedded store`);
}
