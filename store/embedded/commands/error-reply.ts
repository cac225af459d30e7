import type { CommandError } from '../errors.ts';

/** An error's fields as they stand in a reply, or in one of its `writeErrors`. */
export function errorFields(
  error: CommandError,
): { codeName: string } & { [field: string]: unknown } {
  return {
    errmsg: error.message,
    code: error.code,
    codeName: error.codeName,
    ...error.details,
  };
}

/** The whole reply for a command that has failed. */
export function errorReply(error: CommandError): { [field: string]: unknown } {
  return { ok: 0, ...errorFields(error) };
}
