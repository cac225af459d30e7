import { createHmac } from 'node:crypto';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { checkSignature, checkSource, isAllowedHost } from '../../../server/image/access.ts';
import { readAddress } from '../../../server/image/address.ts';
import { resolveSource } from '../../../server/image/source-url.ts';
import type { Project } from '../../../store/projects.ts';
import { imgixSignature } from '../../../urls/src/imgix.ts';
import type { DialectName } from '../../../urls/src/index.ts';
import { project } from '../../project.ts';

const now = Date.UTC(2026, 10, 20);
const seconds = now / 1_000;
const secret = 'not guessed by anybody';
const path = '/img/https://pictures.example.com/a.jpg';
const signing = project({ requireSignedUrls: true, signingSecret: secret });

function check(of: Project, query: string, at = path): number {
  const address = readAddress(at, query);
  checkSource(of, resolveSource(address.source, of.origin));
  return checkSignature(of, address, at, query, now).expires;
}

/** Returns a request's error, or the code `accepted`. */
function refusal(of: Project, query: string, at = path): { code: string; message: string } {
  try {
    check(of, query, at);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  return { code: 'accepted', message: '' };
}

const sign = (query: string, at = path, by = secret): string =>
  `${query}&sig=${createHmac('sha256', by).update(`${at}?${query}`).digest('base64url')}`;

t.test('compares source hosts with the allowlist in canonical form', async (t) => {
  const allowlist = project({ allowedOrigins: ['e.com', '*.pictures.example', '[2001:db8::1]'] });
  const allowed = ['https://E.COM:8443/', 'https://e.com./', 'https://e%2Ecom/'];
  for (const url of [...allowed, 'https://a.pictures.example/', 'https://[2001:db8:0::1]/']) {
    t.ok(isAllowedHost(allowlist, new URL(url).hostname), url);
  }
  for (const host of ['www.e.com', 'e.com..', '*.pictures.example', '[2001:db8::2]']) {
    t.notOk(isAllowedHost(allowlist, host), host);
  }
});

t.test('rejects a source outside the allowlist, signed or not', async (t) => {
  const elsewhere = '/img/https://elsewhere.example/a.jpg';
  const query = sign(`project=p&exp=${seconds + 60}`, elsewhere);
  for (const of of [project(), signing]) {
    t.match(refusal(of, query, elsewhere), {
      code: 'source_not_allowed',
      message: 'elsewhere.example',
    });
  }
});

t.test('accepts a signed URL until its exp, which the project can limit', async (t) => {
  t.equal(check(project(), 'project=p'), Number.POSITIVE_INFINITY);
  t.equal(check(project(), 'project=p&sig=x&exp=1'), Number.POSITIVE_INFINITY, 'not required');
  t.equal(check(signing, sign(`project=p&w=4&exp=${seconds + 60}`)), now + 60_000);
  t.equal(check(signing, sign(`project=p&exp=${seconds + 1}`)), now + 1_000);
  t.match(refusal(signing, sign(`project=p&exp=${seconds}`)), { code: 'signature_invalid' });
  t.match(refusal(signing, sign(`project=p&exp=${seconds - 1}`)), { message: /expired/ });
  const limited = { ...signing, signedUrlTtlSeconds: 60 };
  t.equal(check(limited, sign(`project=p&exp=${seconds + 60}`)), now + 60_000);
  t.match(refusal(signing, sign(`project=p&exp=${now + 60_000}`)), {
    code: 'signature_invalid',
    message: /^exp must be a Unix time in whole seconds, .*, not milliseconds\.$/,
  });
  t.match(refusal(limited, sign(`project=p&exp=${seconds + 61}`)), {
    code: 'signature_invalid',
    message: /60 seconds/,
  });
});

t.test('signs the path and the query, at any position in the query', async (t) => {
  const query = `project=p&exp=${seconds + 60}&w=4`;
  const sig = sign(query).slice(query.length + 1);
  t.ok(check(signing, `${sig}&${query}`));
  t.ok(check(signing, `project=p&${sig}&exp=${seconds + 60}&w=4`));
  t.ok(check(signing, sign(`signature=1&${query}`)), 'only sig is not signed');

  const forged = [
    `project=p&exp=${seconds + 61}&w=4&${sig}`,
    `project=p&exp=${seconds + 60}&w=5&${sig}`,
    `project=p&exp=${seconds + 60}&${sig}`,
    `${query}&h=1&${sig}`,
    `${query}&${sig}&`,
    `project=q&exp=${seconds + 60}&w=4&${sig}`,
  ];
  for (const forgedUrl of forged)
    t.match(refusal(signing, forgedUrl), { code: 'signature_invalid' }, forgedUrl);
  const other = path.replace('a.jpg', 'b.jpg');
  t.match(refusal(signing, `${query}&${sig}`, other), { code: 'signature_invalid' });
});

t.test('rejects malformed signatures and expiries', async (t) => {
  const query = `project=p&exp=${seconds + 60}`;
  const whole = sign(query);
  const queries = [
    query,
    `${query}&sig=`,
    `${query}&sig`,
    `${query}&sig=x`,
    whole.slice(0, -1),
    `${whole}=`,
    `${whole}A`,
    sign(query, path, 'another secret'),
    sign(query, path, ''),
    whole.replace('&sig=', '&s%69g='),
    sign('project=p'),
    sign('project=p&exp='),
    sign('project=p&exp=-1'),
    sign('project=p&exp=1e12'),
    sign(`project=p&exp=${seconds + 60}.5`),
    sign(`project=p&exp=${'9'.repeat(13)}`),
  ];
  for (const malformed of queries)
    t.match(refusal(signing, malformed), { code: 'signature_invalid' }, malformed);
});

t.test('keeps a signature valid when a proxy rewrites the path', async (t) => {
  const query = `project=p&exp=${seconds + 60}`;
  const collapsed = path.replace('://', ':/');
  const encoded = `/img/${encodeURIComponent('https://pictures.example.com/a.jpg')}`;
  const special = "https://pictures.example.com/a'(1)!*.jpg";
  const asInJavaScript = `/img/${encodeURIComponent(special)}`;
  const asInPhp = asInJavaScript.replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  for (const [signed, ...received] of [
    [path, path, collapsed, encoded, encoded.toLowerCase()],
    [encoded, path, collapsed, encoded, encoded.toLowerCase()],
    [collapsed, collapsed],
    [asInPhp, asInPhp, `/img/${special.replace('://', ':/')}`],
    [asInJavaScript, `/img/${special}`],
  ] as const) {
    for (const receivedUrl of received)
      t.ok(check(signing, sign(query, signed), receivedUrl), `${signed}, ${receivedUrl}`);
  }
  for (const [signed, received] of [
    [path, '/img/https://pictures.example.com/b.jpg'],
    [path, '/img/http://pictures.example.com/a.jpg'],
    ['/img/https://pictures.example.com/x//a.jpg', '/img/https:/pictures.example.com/x/a.jpg'],
    ['/img/https%3A%2F%2Fpictures.example.com%2Fa%2541', '/img/https://pictures.example.com/aA'],
  ] as const) {
    t.match(refusal(signing, sign(query, signed), received), { code: 'signature_invalid' }, signed);
  }
  // A source's signed text must not be valid for a source with a query.
  const split = `project=p&exp=${seconds + 60}?project=p&exp=${seconds + 60}`;
  const whole = encodeURIComponent(`https://pictures.example.com/a.jpg?${query}`);
  const sig = sign(split).slice(split.length);
  t.match(refusal(signing, query + sig, `/img/${whole}`), { code: 'signature_invalid' });
});

t.test("accepts the project's secrets: no secret, one, or two in a rotation", async (t) => {
  const query = `project=p&exp=${seconds + 60}`;
  const projects: ReadonlyArray<readonly [Partial<Project>, ...valid: string[]]> = [
    [{ signingSecret: null }],
    [{ signingSecret: 'new' }, 'new'],
    [{ signingSecret: 'new', previousSigningSecret: null }, 'new'],
    [{ signingSecret: 'new', previousSigningSecret: 'old' }, 'new', 'old'],
  ];
  for (const [secrets, ...valid] of projects) {
    const of = project({ requireSignedUrls: true, ...secrets });
    for (const by of ['new', 'old', secret, '', 'null', 'undefined']) {
      const { code } = refusal(of, sign(query, path, by));
      t.equal(code, valid.includes(by) ? 'accepted' : 'signature_invalid', `${valid} and ${by}`);
    }
  }
});

t.test('checks the signatures of other services with the secrets of their kind', async (t) => {
  /** Returns a query with its signature. */
  const signed = (secret: string, query = '', path = '/a.jpg') =>
    `${query === '' ? '' : `${query}&`}s=${imgixSignature(secret, path, query)}`;
  const of = { valid: [{ secret: 'new' }, { secret: 'old' }], updatedAt: new Date(0) };
  const secretOnly = project({ urlSecrets: { imgix: of } });
  const required = { ...secretOnly, requireSignedUrls: true };
  const limited = { ...required, signedUrlTtlSeconds: 60 };
  const noSecret = project({ requireSignedUrls: true, urlSecrets: { thumbor: of } });
  const outcome = (of: Project, query: string, dialect: DialectName = 'imgix') => {
    const { exp } = Object.fromEntries(new URLSearchParams(query));
    const parameters = new Map(exp === undefined ? [] : [['exp', exp]]);
    const address = { ...readAddress(path, 'project=p'), dialect, parameters };
    try {
      return checkSignature(of, address, '/a.jpg', query, now).expires;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'signature_invalid') return error.message;
      throw error;
    }
  };
  const never = Number.POSITIVE_INFINITY;
  const wrong = 'The signature does not match the URL.';
  for (const [name, of, query, expected] of [
    ['none required, no secret', project(), 's=x', never],
    ['none required, unsigned', secretOnly, '', never],
    ['none required, wrong', secretOnly, 's=x', wrong],
    ['none required, empty', secretOnly, 's=', wrong],
    ['none required, right', secretOnly, signed('new'), never],
    ['required, unsigned', required, '', 'This project needs signed URLs.'],
    ['required, wrong', required, signed('new', '', '/b.jpg'), wrong],
    ['required, right', required, signed('new'), never],
    ['required, the previous secret', required, signed('old'), never],
    [
      'required, no secret',
      noSecret,
      signed('new'),
      'The project has no secret for URLs of imgix.',
    ],
    ['expired', project(), `exp=${seconds}`, 'The URL has expired.'],
    ['not expired', required, signed('new', `exp=${seconds + 1}`), now + 1_000],
    ['limited, without an end', limited, signed('new'), /^The URL must expire within 60 seconds/],
    ['limited, too long', limited, signed('new', `exp=${seconds + 61}`), /^The URL must expire/],
    ['limited', limited, signed('new', `exp=${seconds + 60}`), now + 60_000],
  ] as const) {
    const found = outcome(of, query);
    if (expected instanceof RegExp) t.match(found, expected, name);
    else t.equal(found, expected, name);
  }
  t.equal(outcome(required, '', 'cloudflare'), 'URLs of Cloudflare have no signature.');
  t.equal(outcome(secretOnly, '', 'cloudflare'), never);
});
