import fc from 'fast-check';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { readAddress, readOptions } from '../../../server/image/address.ts';
import { resolveSource } from '../../../server/image/source-url.ts';
import { propertyRuns } from '../../extended.ts';

/** Returns the ServiceError code for a URL, and fails for other errors. */
function refusal(path: string, query: string): string {
  try {
    const { source } = readAddress(path, query);
    return `accepted as ${source.href}`;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

const picture = 'https://pictures.example.com/a/b.jpg';
const awkward = 'https://pictures.example.com/a b.jpg?size=1&kind=ü#part';

t.test('reads each spelling of a source', async (t) => {
  const whole = encodeURIComponent(picture);
  const spellings: readonly (readonly [string, string])[] = [
    ['/img', `url=${picture}&project=p`],
    [`/img/${picture}`, 'project=p'],
    [`/img/${whole}`, 'project=p'],
    [`/img/${whole.toLowerCase()}`, 'project=p'],
    ['/img/', `url=${whole}&project=p`],
    ['/img/', `project=p&url=${picture}`],
    [`/img/${picture.replace('//', '/')}`, 'project=p'],
    [`/img/${picture.replace('https', 'HTTPS')}`, 'project=p'],
    [`/img/${encodeURIComponent(`${picture}#top`)}`, 'project=p'],
    [`/img/${picture}`, 'project=p&url=https%3A%2F%2Fother.example.com%2F'],
  ];
  for (const [path, query] of spellings) {
    const { source, projectId } = readAddress(path, query);
    t.same([source.href, projectId], [picture, 'p'], `${path}?${query}`);
  }
  const expected = 'https://pictures.example.com/a%20b.jpg?size=1&kind=%C3%BC';
  const encoded = encodeURIComponent(awkward);
  t.equal(readAddress(`/img/${encoded}`, 'project=p&w=4').source.href, expected);
  t.equal(readAddress('/img/', `url=${encoded}&project=p&w=4`).source.href, expected);
  const escaped = 'https://e.com/100%25%20a%2Fb.jpg';
  t.equal(readAddress(`/img/${escaped}`, 'project=p').source.href, escaped, 'not decoded');
  const twice = encodeURIComponent(encodeURIComponent(picture));
  t.equal(refusal(`/img/${twice}`, 'project=p'), 'source_invalid', 'decoded only once');
});

/** Returns a path's source, for a project with its site in a folder. */
const onSite = (path: string, query = 'project=p'): string =>
  resolveSource(readAddress(path, query).source, 'https://shop.example/en/').href;

t.test("resolves each spelling of a path on the project's site", async (t) => {
  for (const [path, query, expected] of [
    ['/img/', 'url=/coast.jpg&project=p', 'https://shop.example/coast.jpg'],
    ['/img/', 'url=%2Fa%2520b.jpg&project=p', 'https://shop.example/a%20b.jpg'],
    ['/img/%2Fa%2520b.jpg', 'project=p', 'https://shop.example/a%20b.jpg'],
    ['/img//a%20b.jpg', 'project=p', 'https://shop.example/a%20b.jpg'],
    ['/img/%2F..%2Fa.jpg%3Fb=c%23d', 'project=p', 'https://shop.example/a.jpg?b=c'],
    ['/img/', 'url=%20/a//b.jpg%20&project=p', 'https://shop.example/a//b.jpg'],
    ['/img/', `url=${picture}&project=p`, picture],
  ] as const) {
    t.equal(onSite(path, query), expected, `${path}?${query}`);
  }
});

t.test('never takes a path on the site to another host', async (t) => {
  const characters = [
    '/',
    '\\',
    '\t',
    '\n',
    '\r',
    ' ',
    '.',
    '@',
    ':',
    '[',
    '%',
    'é',
    'e',
    'x.example',
  ];
  const anyPath = fc.array(fc.constantFrom(...characters), { maxLength: 8 });
  const property = fc.property(anyPath, (parts) => {
    const path = `/${parts.join('')}`;
    const query = `project=p&url=${encodeURIComponent(path)}`;
    if (refusal('/img/', query) === 'source_invalid') return true;
    return new URL(onSite('/img/', query)).origin === 'https://shop.example';
  });
  t.doesNotThrow(() => fc.assert(property, { seed: 51, numRuns: propertyRuns(5_000) }));
});

t.test(
  'suggests the likely URL for a source that lacks its scheme or has two encodings',
  async (t) => {
    const url = 'https://pictures.example.com/a.jpg';
    const encoded = encodeURIComponent(encodeURIComponent(url));
    const hint = (source: string) => {
      try {
        readAddress(`/img/${source}`, 'project=p');
        return '';
      } catch (error) {
        return /Did you mean .*|It is .*/.exec((error as Error).message)?.[0] ?? '';
      }
    };
    t.equal(hint('pictures.example.com/a.jpg'), `Did you mean ${url}?`);
    t.equal(hint('https:pictures.example.com/a.jpg'), `Did you mean ${url}?`);
    t.equal(hint(encoded), `It is percent-encoded more than once. Did you mean ${url}?`);
    t.equal(hint('photos/a.jpg'), '');
  },
);

t.test('decodes other parameters, and accepts only unknown parameters twice', async (t) => {
  const { parameters } = readAddress('/img/', `url=${picture}&w=10&project=p&x=a%26b&blur`);
  t.same(Object.fromEntries(parameters), { w: '10', x: 'a&b', blur: '' });
  t.equal(readAddress('/img/', `url=${picture}&project=p&utm=1&utm=2`).projectId, 'p');
  for (const name of ['url', 'project', 'w', 'width', 'exp', 'sig']) {
    t.equal(refusal('/img/', `url=${picture}&project=p&${name}=1&${name}=2`), 'parameter_invalid');
  }
});

t.test('returns a separate error code per kind of invalid address', async (t) => {
  const host = (length: number) => `https://${'a'.repeat(length)}/`;
  const chinese = (length: number) => encodeURIComponent(`https://${'中'.repeat(length)}/`);
  const invalidSources = `
    a.jpg ///e.com/a.jpg %E0%A4%A https:///a.jpg https:e.com ftp://e.com/a.jpg
    file:///etc/passwd data:image/png,x javascript:1 https://user@e.com/ https://:secret@e.com/
    https://e.com:70000/ https://[::1/ ${host(1_025)} ${chinese(254)}
    https://${'u'.repeat(1_025)}@e.com/ https:/\\${'a'.repeat(1_025)}/`;
  const addresses: readonly (readonly [string, string, string])[] = [
    ['/img/', 'project=p', 'source_missing'],
    ['/img/', 'project=p&url=', 'source_missing'],
    ['/img/', '', 'source_missing'],
    [`/img/${picture}`, '', 'project_missing'],
    [`/img/${picture}`, 'project=', 'project_missing'],
    ['/img/', `project=p&url=https://e.com/${'a'.repeat(8_200)}`, 'source_invalid'],
    [`/img/${host(1_024)}`, 'project=p', `accepted as ${host(1_024)}`],
    ['/img/', `project=p&url=${host(1_025)}`, 'source_invalid'],
    [`/img/${picture}`, `project=p${'&x'.repeat(100)}`, 'parameter_invalid'],
    [`/img/${picture}`, `project=p${'&x'.repeat(99)}`, `accepted as ${picture}`],
    [`/img/${picture}`, 'project=p&w=1&%77=2', 'parameter_invalid'],
  ];
  for (const source of invalidSources.trim().split(/\s+/)) {
    t.equal(refusal(`/img/${source}`, 'project=p'), 'source_invalid', source.slice(0, 80));
  }
  for (const [path, query, code] of addresses) {
    t.equal(refusal(path, query), code, `${path}?${query}`.slice(0, 80));
  }
});

t.test('reads hostile addresses in bounded time', async (t) => {
  const letters = String.fromCharCode(...Array.from({ length: 4_500 }, (_, i) => 0x4e00 + i));
  const names = Array.from({ length: 5_000 }, (_, i) => i.toString(36)).join('&');
  const path = `/img/${picture}`;
  const addresses: Readonly<Record<string, readonly [path: string, query: string]>> = {
    'a host of 4,500 letters': ['/img/', `project=p&url=https://${letters}/`],
    'a fallback with one': [path, `project=p&fallback=https://${letters}/`],
    '5,000 names': [path, `project=p&${names}`],
    '16,000 empty ones': [path, '&'.repeat(16_000)],
    'escaped ones': [path, 'amp;amp;c&'.repeat(1_600)],
    'a long name': [path, `${'sharpen'.repeat(2_000)}&project=p`],
    'a path of segments': [`/img/https://e.com/${'a/../'.repeat(1_600)}`, 'project=p'],
  };
  for (const [what, [to, query]] of Object.entries(addresses)) {
    const isFast = () => {
      const startedAt = performance.now();
      try {
        readOptions(readAddress(to, query).parameters);
      } catch {}
      // The first two take 40 ms without their limits, the next three 4 to 10 ms.
      return performance.now() - startedAt < 2;
    };
    // Other programs interrupt most runs on a busy machine, but not all.
    t.ok(Array.from({ length: 100 }).some(isFast), what);
  }
});

t.test('returns a valid address or a ServiceError for any path and query', async () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('https://', 'http:/', '%', '%2', '&', '=', '?', '#', '@', '\\', '\t', '\n'),
    fc.constantFrom('url=', 'project=', 'e.com', '[::1]', '%00', '%2F', ':', '//', '__proto__'),
    fc.webUrl(),
  );
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, text, (path, query) => {
      try {
        const address = readAddress(`/img/${path}`, query);
        const { projectId } = address;
        const source = resolveSource(address.source, 'https://shop.example/');
        return (
          /^https?:$/.test(source.protocol) &&
          source.hostname !== '' &&
          source.username === '' &&
          source.password === '' &&
          source.hash === '' &&
          projectId !== ''
        );
      } catch (error) {
        return error instanceof ServiceError;
      }
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

t.test('reads every web URL unchanged from the path and the query', async () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
      const encoded = encodeURIComponent(url);
      const expected = new URL(url).href;
      return (
        readAddress(`/img/${encoded}`, 'project=p').source.href === expected &&
        readAddress('/img/', `project=p&url=${encoded}`).source.href === expected
      );
    }),
  );
});
