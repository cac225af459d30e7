/** Protocol limits, as announced by `hello`. */

/** A message, header included. */
export const maxMessageBytes = 48_000_000;

/** A stored document. */
export const maxDocumentBytes = 16 * 1024 * 1024;

/** A document in a message: a stored one and the command around it. */
export const maxCommandBytes = maxDocumentBytes + 16 * 1024;

/** Statements per write command. Only bulk writes, which the store refuses, have more. */
export const maxStatements = 1;
