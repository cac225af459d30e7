import fc from 'fast-check';
import t from 'tap';
import { createImageUrls } from '../../sdk/src/index.ts';
import { createAsyncSigner, createSigner } from '../../sdk/src/sign/node.ts';
import { createSigner as createSignerOnEdge } from '../../sdk/src/sign/web.ts';
import { checkSignature } from '../../server/image/access.ts';
import { readAddress } from '../../server/image/address.ts';
import { readRequestAddress } from '../../server/image/host-address.ts';
import { propertyRuns } from '../extended.ts';
import { project } from '../project.ts';
import { anyOptions, anySource } from './options.ts';

const secret = 'a-secret_of-43-characters';
const owner = project({
  requireSignedUrls: true,
  signingSecret: secret,
  signedUrlTtlSeconds: 1_201,
});
const signing = {
  baseUrl: 'https://images.example.com/',
  project: owner._id,
  secret,
  validFor: 600,
  step: 600,
};
const bases = [
  'https://images.example.com',
  'https://cdn.example.com/a/img/b',
  'http://[::1]:3000',
];
const source = 'https://shop.example.com/a.jpg';

/** @throws ServiceError as the service, for a URL below one of the bases */
function check(url: string, base: string): number {
  const [path = '', ...query] = url.slice(base.length).split('?');
  const text = query.join('?');
  return checkSignature(owner, readAddress(path, text), path, text, Date.now()).expires;
}

/** Replaces a character by one that is not the same letter in another case. */
const withChange = (url: string, at: number): string =>
  url.slice(0, at) + (url[at]?.toLowerCase() === 'x' ? 'y' : 'x') + url.slice(at + 1);

t.test('signs the URL of a path on the site so that the service accepts it', async (t) => {
  for (const baseUrl of bases) {
    const sign = createSigner({ ...signing, baseUrl });
    const { url, srcset } = createImageUrls({ baseUrl, project: owner._id, sign });
    t.ok(check(url('/a b.jpg', { w: 8 }), baseUrl) > Date.now());
    const [first = ''] = srcset('/a.jpg').split(' ');
    t.ok(check(first, baseUrl) > Date.now());
    const plain = `${baseUrl.replace(/\/$/, '')}/img//a.jpg?project=${owner._id}`;
    t.ok(check(sign(plain), baseUrl) > Date.now());
  }
});

t.test('signs URLs of delivery hosts', async (t) => {
  const host = 'img.shop.example';
  const sign = createSigner({ ...signing, hosts: [host, 'img2.shop.example'] });
  const site = { project: owner, host: { host, base: null, updatedAt: new Date() } };
  const isValid = (url: string): boolean => {
    const [, path = '', query = ''] = /^https?:\/\/[^/]*([^?#]*)\?([^#]*)/.exec(url) ?? [];
    try {
      checkSignature(owner, readRequestAddress(path, query, site), path, query, Date.now());
      return true;
    } catch {
      return false;
    }
  };
  const img = `/img/${encodeURIComponent(source)}`;
  for (const url of [
    `https://${host}/products/coast.jpg?w=800`,
    `https://${host}/coast.jpg`,
    `http://IMG.shop.example:8443/a%20b.jpg?w=8#top`,
    `https://${host}${img}?w=8`,
    `https://${host}${img}?project=${owner._id}&w=8`,
  ]) {
    const signed = sign(url);
    t.ok(isValid(signed), signed);
    t.ok(isValid(sign(signed)), 'signed again');
    t.equal(sign(signed), signed);
    t.notOk(isValid(signed.replace('.jpg', '.png')));
    t.equal(signed.endsWith('#top'), url.endsWith('#top'));
    t.equal(await createAsyncSigner({ ...signing, hosts: [host] })(url), signed);
  }
  const other = sign('https://img2.shop.example/coast.jpg?w=800');
  t.notOk(isValid(other), 'of another host');
  const srcset = `https://${host}/a.jpg?w=1 1w, https://${host}/a.jpg?w=2 2w,https://x.example/a.jpg 3w`;
  const [first = '', , second = '', , third] = sign(srcset)
    .replaceAll(',https', ', https')
    .split(/,? /);
  t.ok(isValid(first) && isValid(second));
  t.equal(third, 'https://x.example/a.jpg');
  for (const url of [
    'https://img.other.example/coast.jpg?w=800',
    `https://x${host}/coast.jpg`,
    `https://${host}.evil.example/coast.jpg`,
    `https://evil.example/?${host}/coast.jpg`,
    `https://${host}@evil.example/coast.jpg`,
    `https://${host}${img}?project=prj_0000000000000000`,
    '/coast.jpg?w=800',
  ]) {
    t.equal(sign(url), url);
  }
  t.equal(createSigner(signing)(`https://${host}/a.jpg`), `https://${host}/a.jpg`);
});

t.test('signs URLs that the service accepts, until a character changes', async (t) => {
  const signers = new Map(
    bases.map((baseUrl) => {
      const options = { ...signing, baseUrl };
      return [baseUrl, { sign: createSigner(options), signLater: createAsyncSigner(options) }];
    }),
  );
  const input = fc.tuple(fc.constantFrom(...bases), anySource, anyOptions, fc.nat());
  const numRuns = propertyRuns(10_000);
  let refused = 0;
  for (const [base, src, options, place] of fc.sample(input, { seed: 27, numRuns })) {
    const { sign = String, signLater = String } = signers.get(base) ?? {};
    const url = createImageUrls({ baseUrl: base, project: owner._id, sign }).url(src, options);
    const unsigned = createImageUrls({ baseUrl: base, project: owner._id }).url(src, options);
    const expires = check(url, base) / 1_000;
    const ahead = expires - Date.now() / 1_000;
    if (expires % 600 !== 0 || ahead < 599 || ahead > 1_200) t.fail(`exp=${expires}`);
    const later = await signLater(unsigned);
    if (later !== url && later.replace(/&exp.*/, '') !== url.replace(/&exp.*/, '')) t.fail(later);
    check(later, base);
    const from = base.length + '/img/'.length;
    try {
      check(withChange(url, from + (place % (url.length - from))), base);
      t.fail(`changed: ${url}`);
    } catch {
      refused += 1;
    }
  }
  t.equal(refused, numRuns);
});

t.test('adds one signature to every URL of srcsets and pictures', async (t) => {
  const sign = createSigner(signing);
  const plain = createImageUrls({ baseUrl: bases[0] ?? '', project: owner._id });
  const signed = createImageUrls({ baseUrl: bases[0] ?? '', project: owner._id, sign });
  const options = { ratio: 2, crop: [1, 2, 3, 4], sizes: '50vw' } as const;
  const picture = sign(plain.picture(source, options));
  t.same(picture, signed.picture(source, options));
  t.same(picture, await createAsyncSigner(signing)(plain.picture(source, options)));
  t.same(sign(picture), picture, 'a signed picture has its signatures replaced');
  t.equal(sign(plain.srcset(source)), signed.srcset(source));
  const sets = [...picture.sources.map(({ srcset }) => srcset), picture.img.srcset ?? ''];
  const all = [
    picture.img.src,
    ...sets.flatMap((set) => set.split(', ').map((candidate) => candidate.split(' ')[0] ?? '')),
  ];
  t.equal(all.length, 28);
  for (const url of all) t.ok(check(url, bases[0] ?? ''));
  t.same(plain.parse(picture.img.src), plain.parse(plain.picture(source, options).img.src));
});

t.test('keeps other URLs unchanged', async (t) => {
  const sign = createSigner(signing);
  const own = `project=${owner._id}`;
  for (const url of [
    'data:image/png;base64,AA==',
    '/a.jpg',
    'https://a.example/img/a.jpg?b=1',
    '',
    `https://images.example.com/img/${source}`,
    `https://images.example.com/img/${source}?project=another&layer=a&text.a=b`,
    `https://images.example.com/img/${source}?${own}&project=another`,
    `https://images.example.com/img/${source}?w=1&PROJECT=${owner._id}`,
    `https://images.example.com.evil.example/img/${source}?${own}`,
    `https://images.example.com@evil.example/img/${source}?${own}`,
    `https://evil.example/img/${source}?${own}&layer=a&text.a=b`,
    `https://evil.example/a,https://images.example.com/img/${source}?${own}`,
    `https://images.example.com/blog/img/${source}?${own}`,
    `/img/${source}?${own}`,
  ]) {
    t.equal(sign(url), url);
    t.equal(await createAsyncSigner(signing)(url), url);
  }
  const url = `https://images.example.com/img/${source}?${own}`;
  t.match(sign(`${url}#b`), /&sig=[\w-]{43}#b$/);
  const set = sign(`/a.jpg 1x,${url} 1.5x,${url} 20w, ${url}`);
  t.match(set, /^\/a\.jpg 1x,https:\S+&sig=\S+ 1\.5x,https:\S+&sig=\S+ 20w, https:\S+&sig=\S+$/);
});

t.test('does not sign a picture with a URL from a user', async (t) => {
  const urls = createImageUrls({ baseUrl: signing.baseUrl, project: owner._id });
  const written = `https://images.example.com/img/${source}?project=${owner._id}&text.a=b`;
  const picture = urls.picture(written);
  t.equal(picture.img.src, written, 'it is an image already');
  t.same(createSigner(signing)(picture), picture);
  t.same(await createAsyncSigner(signing)(picture), picture);
});

t.test('rejects impossible times immediately, and the environment at the first use', async (t) => {
  for (const change of [{ validFor: 0 }, { validFor: Infinity }, { step: 0.5 }, { step: -1 }]) {
    for (const create of [createSigner, createAsyncSigner]) {
      t.throws(() => create({ ...signing, ...change }), TypeError);
    }
  }
  const absent = undefined as unknown as string;
  for (const change of [{ secret: '' }, { secret: absent }, { project: '' }, { baseUrl: absent }]) {
    const [name = ''] = Object.keys(change);
    const expected = { message: new RegExp(`^${name} is missing: `) };
    const sign = createSigner({ ...signing, ...change });
    t.throws(() => sign(source), expected);
    t.throws(() => sign({ sources: [], img: { src: source, srcset: source } }), expected);
    const signLater = createAsyncSigner({ ...signing, ...change });
    await t.rejects(signLater(source), expected);
  }
  t.throws(() => createSignerOnEdge(), /createAsyncSigner/);
});
