/** The limits of the protocol, as announced by `hello`. */

/** A message, header included. */
export const maxMessageBytes = 48_000_000;

/** A stored document. */
export const maxDocumentBytes = 16 * 1024 * 1024;

/** A document in a message: a stored one and the command around it. */
export const maxCommandBytes = maxDocumentBytes + 16 * 1024;

/** Statements per write command of the driver: bulk writes, whose messages are refused, would have more. */
export const maxStatements = 1;
