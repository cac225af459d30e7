/** The bounds that the protocol sets and `hello` announces. */

/** A message, header included. */
export const MAX_MESSAGE_BYTES = 48_000_000;

/** A stored document. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** A document in a message: a stored one and the command around it. */
export const MAX_COMMAND_BYTES = MAX_DOCUMENT_BYTES + 16 * 1024;

/** The statements of one write command: only bulk writes have more than one, and nobody sends those. */
export const MAX_STATEMENTS = 1;
