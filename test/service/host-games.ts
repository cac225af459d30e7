import type { Test } from 'tap';
import { signature } from '../../server/image/access.ts';
import { cloudinarySignature } from '../../urls/src/cloudinary.ts';
import { imgixSignature } from '../../urls/src/imgix.ts';
import { imgproxySignature } from '../../urls/src/imgproxy/imgproxy.ts';
import { thumborSignature } from '../../urls/src/thumbor.ts';
import { until } from '../until.ts';
import { dialectNames, urlExamples } from '../url-examples.ts';
import type { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';

/** The program that reads the host first. */
type Reader = 'uws' | 'node' | 'nginx';

/** Project with the image that a request gets, or null. */
type Owner = 'a' | 'b' | null;

/**
 * The oddity, the header lines, and the owner. `{a}` and `{b}` are hosts, `{A}` is in upper case,
 * and `{kind}` their URL kind.
 */
type Game = readonly [
  what: string,
  lines: readonly string[],
  owner: Owner | Readonly<Record<Reader, Owner>>,
  target?: string,
];

const games: readonly Game[] = [
  ['nothing', ['Host: {a}'], 'a'],
  ['upper case', ['Host: {A}'], 'a'],
  ['a port', ['Host: {a}:8443'], 'a'],
  ['a trailing dot', ['Host: {a}.'], 'a'],
  ['upper case, a trailing dot and a port', ['Host: {A}.:80'], 'a'],
  ['two trailing dots', ['Host: {a}..'], null],
  ['a port of letters', ['Host: {a}:x'], { uws: null, node: null, nginx: 'a' }],
  ['a slash', ['Host: {a}/'], null],
  ['a user name', ['Host: {b}@{a}'], null],
  ['two names', ['Host: {a} {b}'], null],
  ['a list', ['Host: {a},{b}'], null],
  ['another name with the same end', ['Host: x{a}'], null],
  ['the parent domain', ['Host: a.example'], null],
  ['two spaces', ['Host:  {b}'], 'b'],
  ['an empty host', ['Host: '], null],
  ['a long host', [`Host: ${'x'.repeat(2_000)}`], null],
  ['two Host headers', ['Host: {a}', 'Host: {b}'], null],
  ['two equal Host headers', ['Host: {a}', 'Host: {a}'], null],
  ['a Host header of the service first', ['Host: 127.0.0.1', 'Host: {b}'], null],
  ['X-Forwarded-Host of a client', ['Host: {a}', 'X-Forwarded-Host: {b}'], 'a'],
  ['X-Forwarded-Host, own host', ['Host: 127.0.0.1', 'X-Forwarded-Host: {b}'], null],
  ['Forwarded', ['Host: {a}', 'Forwarded: host={b}'], 'a'],
  ['other headers', ['Host: {a}', 'X-Original-Host: {b}', 'X-Host: {b}'], 'a'],
  ['an internationalised name', ['Host: {kind}.xn--bcher-kva.example'], 'b'],
  ['the same in upper case', ['Host: {kind}.XN--BCHER-KVA.EXAMPLE'], 'b'],
  ['the same in UTF-8', ['Host: {kind}.b\xc3\xbccher.example'], null],
  ['the same in Latin-1', ['Host: {kind}.b\xfccher.example'], 'b'],
  ['a letter that looks like another', ['Host: {kind}.\xd0\xb0.example'], null],
  ['an absolute URL', ['Host: {a}'], { uws: null, node: 'b', nginx: 'b' }, 'http://{b}'],
  ['an absolute URL with a user name', ['Host: {a}'], null, 'http://{a}@{b}'],
];

/** A URL of each kind, and how a secret signs it. */
interface SignedUrl {
  readonly target: string;
  readonly sign: (secret: string, host: string) => string;
}

const salt = Buffer.from('salt').toString('hex');
const hex = (text: string) => Buffer.from(text).toString('hex');
const nativeTarget = '/a.jpg?w=33&fmt=png';

const signedUrls: Readonly<Record<string, SignedUrl>> = {
  native: {
    target: nativeTarget,
    sign: (secret, host) => {
      const exp = `${nativeTarget}&exp=${Math.floor(Date.now() / 1_000) + 600}`;
      return `${exp}&sig=${signature(secret, `//${host}${exp}`)}`;
    },
  },
  imgix: {
    target: '/a.jpg?w=33',
    sign: (secret) => `/a.jpg?w=33&s=${imgixSignature(secret, '/a.jpg', 'w=33')}`,
  },
  cloudinary: {
    target: '/demo/image/upload/w_33/a.jpg',
    sign: (secret) =>
      `/demo/image/upload/s--${cloudinarySignature(secret, 'w_33/a.jpg')}--/w_33/a.jpg`,
  },
  imgproxy: {
    target: '/unsafe/w:33/plain/a.jpg',
    sign: (secret) => {
      const path = '/w:33/plain/a.jpg';
      return `/${imgproxySignature(hex(secret), salt, path)}${path}`;
    },
  },
  thumbor: {
    target: '/unsafe/33x0/a.jpg',
    sign: (secret) => `/${thumborSignature(secret, '33x0/a.jpg')}/33x0/a.jpg`,
  },
};

const kinds = ['native', ...dialectNames];

/** The URLs that are played with. */
const targets: readonly (readonly [kind: string, target: string])[] = [
  ['native', '/a.jpg?fmt=png'],
  // A proxy must keep the encoded slash.
  ['iiif', '/iiif/3/x%2Fa.jpg/full/max/0/default.jpg'],
  ...Object.entries(urlExamples).flatMap(([kind, examples]) =>
    examples
      .filter(({ url }) => !url.includes('shop.example'))
      .slice(0, 1)
      .map(({ url }) => [kind, url] as const),
  ),
];

/**
 * Requests two projects' images with unusual hosts, and with the other project's signatures, for
 * every kind of URL.
 * @param port port of the service, or of a proxy in front of it
 */
export async function playHostGames(
  t: Test,
  reader: Reader,
  service: Awaited<ReturnType<typeof startFrontEnd>>,
  port: number,
): Promise<void> {
  const { store, origin, createProject } = service;
  const { projects } = store;
  // Remove the hosts of the previous test, which uses the same store.
  await store.db.collection('hosts').deleteMany({});
  const ids = { a: '', b: '' };
  for (const [name, width, height] of [
    ['a', 160, 100],
    ['b', 100, 160],
  ] as const) {
    ids[name] = await createProject('127.0.0.1');
    const base = `${origin.url}/${name}/`;
    for (const path of ['a.jpg', 'x/a.jpg']) {
      origin.serve(`/${name}/${path}`, await picture(width, height));
    }
    for (const kind of kinds) {
      const idn = name === 'b' ? [`${kind}.xn--bcher-kva.example`] : [];
      // A malformed host must not become the host `invalid`.
      const invalid = name === 'a' && kind === 'native' ? ['invalid'] : [];
      for (const host of [`${kind}.${name}.example`, ...idn, ...invalid]) {
        await projects.hostClaims.claim(host, ids[name]);
        const fields = { host, base, urls: kind, updatedAt: new Date() };
        await projects.setItem(ids[name], 'hosts', host, fields);
      }
    }
  }
  /** Sends a request; returns its status, 0 for none, and its entity tag. */
  const send = async (target: string, ...lines: readonly string[]) => {
    const connection = await StrictConnection.open(port);
    connection.send([`GET ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    const response = await connection.response().catch(() => null);
    connection.close();
    return { status: response?.status ?? 0, etag: response?.headers.get('etag') ?? '' };
  };

  for (const [kind, target] of targets) {
    const owners = new Map<string, Owner>();
    const written = (text: string) =>
      text
        .replaceAll('{a}', `${kind}.a.example`)
        .replaceAll('{A}', `${kind}.a.example`.toUpperCase())
        .replaceAll('{b}', `${kind}.b.example`)
        .replaceAll('{kind}', kind);
    await until('both projects are known', async () => {
      // Twice, so that they are in all caches.
      for (const name of ['a', 'b', 'a', 'b'] as const) {
        const { status, etag } = await send(target, `Host: ${kind}.${name}.example`);
        if (status === 200) owners.set(etag, name);
      }
      return owners.size === 2;
    });
    for (const [what, lines, expected, prefix = ''] of games) {
      const owner = typeof expected === 'object' && expected !== null ? expected[reader] : expected;
      const { status, etag } = await send(written(prefix) + target, ...lines.map(written));
      const found = status === 200 ? owners.get(etag) : null;
      t.equal(found, owner, `${kind}, ${target}, ${what}: ${status}`);
    }
  }

  const signing = { a: '', b: '' };
  for (const name of ['a', 'b'] as const) {
    for (const kind of Object.keys(signedUrls).filter((kind) => kind !== 'native')) {
      const secret =
        kind === 'imgproxy' ? { secret: hex(`of ${name}`), salt } : { secret: `of ${name}` };
      await projects.setUrlSecret(ids[name], kind, secret);
    }
    signing[name] = (await projects.requireSignatures(ids[name], null))?.signingSecret ?? '';
  }
  for (const [kind, { target, sign }] of Object.entries(signedUrls)) {
    const signed = (name: 'a' | 'b', host: string) =>
      sign(kind === 'native' ? signing[name] : `of ${name}`, host);
    const [ofA, ofB] = [`${kind}.a.example`, `${kind}.b.example`];
    const fetchStatus = async (url: string, host: string) =>
      (await send(url, `Host: ${host}`)).status;
    await until('signatures are required', async () => (await fetchStatus(target, ofA)) === 403);
    await until('of both', async () => (await fetchStatus(target, ofB)) === 403);
    for (let i = 0; i < 2; i += 1) {
      t.equal(await fetchStatus(signed('a', ofA), ofA), 200, `${kind}: a signature`);
      t.equal(await fetchStatus(signed('b', ofB), ofB), 200, `${kind}: that of the other project`);
      for (const host of [ofB, ofB.toUpperCase(), `${ofB}.:80`]) {
        t.equal(await fetchStatus(signed('a', ofB), host), 403, `${kind}: that of A at ${host}`);
        t.equal(await fetchStatus(signed('a', ofA), host), 403, `${kind}: that of A for its host`);
      }
    }
  }
}
