import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { listen } from './origin.ts';

type Teardown = Parameters<typeof listen>[0];

/** Bytes to write to a socket repeatedly until it closes. */
export interface Flood {
  readonly head: string;
  readonly piece: Buffer;
  /** Pause between pieces, in ms; absent if there is no pause. */
  readonly everyMs?: number;
  /** True to send the piece only once. */
  readonly once?: boolean;
}

const pieceBytes = 128 * 1024;
const repeated = (text: string | Buffer, bytes = pieceBytes): Buffer =>
  Buffer.alloc(bytes - (bytes % text.length), text);

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const early = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n';
const tinyHeaders = `HTTP/1.1 103 Early Hints\r\n${'a:\r\n'.repeat(3_000)}\r\n`;
const oneByte = '1\r\nx\r\n';

/** Returns a body of parts that decode to empty contents: endless, or 900 kB long. */
function encoded(coding: string, empty: Buffer, { start = '', once = false } = {}): Flood {
  const piece = repeated(empty, once ? 900_000 : pieceBytes);
  const length = once ? `Content-Length: ${piece.length}\r\n` : '';
  const head = `HTTP/1.1 200 OK\r\n${length}Content-Encoding: ${coding}\r\n\r\n${start}`;
  return { head, piece, once };
}

/** Responses with no end or no image, by name, with the error code that each must cause. */
export const attacks: Readonly<Record<string, Flood & { readonly code: string }>> = {
  informational: { head: '', piece: repeated(early), code: 'TOO_MANY_RESPONSES' },
  'slow informational': {
    head: '',
    piece: Buffer.from(early),
    everyMs: 1,
    code: 'TOO_MANY_RESPONSES',
  },
  'tiny headers': { head: '', piece: repeated(tinyHeaders), code: 'TOO_MUCH_OVERHEAD' },
  'empty lines': { head: '', piece: repeated('\r\n'), code: 'TOO_MUCH_OVERHEAD' },
  'one-byte chunks': { head: chunked, piece: repeated(oneByte), code: 'TOO_MANY_PIECES' },
  'slow one-byte chunks': {
    head: chunked,
    piece: repeated(oneByte, 600),
    everyMs: 1,
    code: 'TOO_MANY_PIECES',
  },
  'chunk extensions': {
    head: chunked,
    piece: Buffer.from(`1;${'e'.repeat(pieceBytes)}\r\nx\r\n`),
    code: 'TOO_MUCH_OVERHEAD',
  },
  trailers: {
    head: `${chunked}1\r\nx\r\n0\r\n`,
    piece: repeated('a:\r\n'),
    code: 'TOO_MUCH_OVERHEAD',
  },
  'empty gzip members': {
    ...encoded('gzip', gzipSync(''), { once: true }),
    code: 'TOO_MUCH_OVERHEAD',
  },
  'endless empty gzip members': { ...encoded('gzip', gzipSync('')), code: 'TOO_MUCH_OVERHEAD' },
  'endless empty deflate blocks': {
    ...encoded('deflate', Buffer.from('000000ffff', 'hex'), { start: '\x78\x9c' }),
    code: 'TOO_MUCH_OVERHEAD',
  },
  'endless bytes after a gzip member': {
    ...encoded('gzip', Buffer.alloc(64), { start: gzipSync('svg').toString('latin1') }),
    code: 'TOO_MUCH_OVERHEAD',
  },
};

/** Floods a socket until it closes. */
export function flood(socket: Socket, { head, piece, everyMs, once = false }: Flood): void {
  socket.setNoDelay(true);
  socket.write(head, 'latin1');
  if (once) return void socket.end(piece);
  const write = () => socket.writable && socket.write(piece);
  if (everyMs !== undefined) {
    const timer = setInterval(write, everyMs);
    return void socket.on('close', () => clearInterval(timer));
  }
  const more = () => {
    while (write());
  };
  socket.on('drain', more);
  more();
}

/** Starts an origin that responds with the attack in the first path segment. */
export function startHostileOrigin(t: Teardown) {
  const server = createServer((socket) => {
    socket.once('data', (request) => {
      const [, path = ''] = String(request).split(' ');
      const attack = attacks[decodeURIComponent(path.split('/')[1] ?? '')];
      if (attack === undefined) socket.destroy();
      else flood(socket, attack);
    });
  });
  return listen(t, server);
}
