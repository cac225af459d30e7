import { createSocket } from 'node:dgram';

/** A DNS response for one address family, or silence. */
export type DnsAnswer =
  | { readonly addresses: readonly string[]; readonly ttl?: number }
  | 'no such name'
  | 'failure'
  | 'silence';

export interface DnsServer {
  /** `address:port`. */
  readonly address: string;
  /** Queried names, one entry per question. */
  readonly queries: readonly string[];
}

const responseCodes = { 'no such name': 3, failure: 2 } as const;

/**
 * Starts a DNS server (RFC 1035) on 127.0.0.1 that responds to address questions like the test
 * says.
 */
export async function startDnsServer(
  t: { teardown(action: () => void): void },
  answer: (name: string, family: 4 | 6) => DnsAnswer,
): Promise<DnsServer> {
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = readQuestion(message);
    const family = type === 28 ? 6 : 4;
    queries.push(name);
    const given = answer(name, family);
    if (given === 'silence') return;
    const code = typeof given === 'string' ? responseCodes[given] : 0;
    const records = typeof given === 'string' ? [] : given.addresses;
    const head = Buffer.alloc(12);
    head.writeUInt16BE(message.readUInt16BE(0), 0);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const ttl = typeof given === 'string' ? 0 : (given.ttl ?? 60);
    const body = records.map((text) => createRecord(text, type, ttl));
    socket.send(Buffer.concat([head, message.subarray(12, end), ...body]), port, address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  t.teardown(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, queries };
}

function readQuestion(message: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/**
 * Encodes a record. The name is a pointer to the question's name; IPv6 addresses are written in
 * full.
 */
function createRecord(text: string, type: number, ttl: number): Buffer {
  const address = text.includes(':')
    ? Buffer.from(
        text
          .split(':')
          .map((part) => part.padStart(4, '0'))
          .join(''),
        'hex',
      )
    : Buffer.from(text.split('.').map(Number));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, address]);
}
