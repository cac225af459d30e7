/** The limits of the protocol, as announced by `hello`. */

/** A message, header included. */
export const MAX_MESSAGE_BYTES = 48_000_000;

/** A stored document. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** A document in a message: a stored one and the command around it. */
export const MAX_COMMAND_BYTES = MAX_DOCUMENT_BYTES + 16 * 1024;

/** Statements per write command: only bulk writes have more, and no client sends those. */
export const MAX_STATEMENTS = 1;
