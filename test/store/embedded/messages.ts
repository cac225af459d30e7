import { BSON } from 'mongodb';

/** Messages of the wire protocol, as a client would send them. */

export const headerBytes = 16;
export const opQuery = 2004;
export const opMsg = 2013;
/** Id of all requests. */
export const requestId = 77;

export const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

/** @param length announced in the header */
export const frame = (
  opcode: number,
  body: Uint8Array,
  length = headerBytes + body.length,
): Buffer => Buffer.concat([length, requestId, 0, opcode].map(int32).concat(Buffer.from(body)));

export const bodySection = (document: object): Buffer =>
  Buffer.concat([Buffer.from([0]), BSON.serialize(document)]);

export const msg = (flags: number, ...sections: Uint8Array[]): Buffer =>
  frame(opMsg, Buffer.concat([int32(flags), ...sections]));

export const pingSection = bodySection({ ping: 1, $db: 'admin' });
export const pingMessage = msg(0, pingSection);
