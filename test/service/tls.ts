import { createServer as createHttp } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { generate, type SelfsignedOptions } from 'selfsigned';

export interface TlsOrigins {
  /** Certificate of the authority, in PEM. A different authority issued `unknown authority`. */
  readonly authority: string;
  /** Origins on 127.0.0.1 by their problem, and `good`. */
  readonly origins: Readonly<Record<keyof typeof kinds, string>>;
}

interface Certificate {
  readonly private: string;
  readonly cert: string;
}

const day = 24 * 60 * 60 * 1_000;
const common = { keyType: 'ec', algorithm: 'sha256' } as const;
const named = (ip: string) => ({
  name: 'subjectAltName' as const,
  altNames: [{ type: 7 as const, ip }],
});

const createAuthority = (name: string): Promise<Certificate> =>
  generate([{ name: 'commonName', value: name }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });

/** Returns a certificate from an authority, or a self-signed certificate. */
const certificate = (
  by: Certificate | null,
  ip = '127.0.0.1',
  options: SelfsignedOptions = {},
): Promise<Certificate> =>
  generate([{ name: 'commonName', value: 'test' }], {
    ...common,
    ...options,
    ...(by === null ? {} : { ca: { key: by.private, cert: by.cert } }),
    extensions: [named(ip)],
  });

const https = ({ private: key, cert }: Certificate, options: ServerOptions, body: Buffer): Server =>
  createServer({ key, cert, ...options }, (_, response) => void response.end(body));

type Make = (authority: Certificate, body: Buffer) => Promise<Server> | Server;

/** OpenSSL's default security level disables TLS 1.1. */
const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

const kinds = {
  good: async (by, body) => https(await certificate(by), {}, body),
  'self-signed': async (_, body) => https(await certificate(null), {}, body),
  expired: async (by, body) => {
    const notBeforeDate = new Date(Date.now() - 20 * day);
    const notAfterDate = new Date(Date.now() - 10 * day);
    return https(await certificate(by, '127.0.0.1', { notBeforeDate, notAfterDate }), {}, body);
  },
  'not yet valid': async (by, body) => {
    const notBeforeDate = new Date(Date.now() + 10 * day);
    const notAfterDate = new Date(Date.now() + 20 * day);
    return https(await certificate(by, '127.0.0.1', { notBeforeDate, notAfterDate }), {}, body);
  },
  'another name': async (by, body) => https(await certificate(by, '10.1.1.1'), {}, body),
  'unknown authority': async (_, body) =>
    https(await certificate(await createAuthority('unknown authority')), {}, body),
  'unknown chain': async (_, body) => {
    const unknown = await createAuthority('unknown authority');
    const leaf = await certificate(unknown);
    return https({ ...leaf, cert: `${leaf.cert}\n${unknown.cert}` }, {}, body);
  },
  'old protocol': async (by, body) => https(await certificate(by), old, body),
  'no common cipher': async (by, body) => {
    const options = { maxVersion: 'TLSv1.2', ciphers: 'AES256-SHA256' } as const;
    return https(await certificate(by), options, body);
  },
  'plain HTTP': (_, body) => createHttp((_, response) => void response.end(body)),
  'closed in the handshake': () => createTcp((socket) => socket.once('data', () => socket.end())),
} as const satisfies Record<string, Make>;

/** Starts TLS servers with new certificates, one per problem. */
export async function startTlsOrigins(
  t: { teardown(action: () => void): void },
  body: Buffer,
): Promise<TlsOrigins> {
  const authority = await createAuthority('test authority');
  const started = Object.entries<Make>(kinds).map(async ([name, make]) => {
    const server = await make(authority, body);
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      t.teardown(() => socket.destroy());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    t.teardown(() => void server.close());
    return [name, `https://127.0.0.1:${(server.address() as AddressInfo).port}`] as const;
  });
  const origins = Object.fromEntries(await Promise.all(started));
  return { authority: authority.cert, origins: origins as TlsOrigins['origins'] };
}
