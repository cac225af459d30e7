import fc from 'fast-check';
import t from 'tap';
import {
  canonicalHost,
  canonicalHostPattern,
  hostMatches,
  isLongAuthority,
  readAuthority,
} from '../../contract/hosts.ts';
import { usedCpuMs } from '../clock.ts';
import { propertyRuns } from '../extended.ts';

/** Returns Chinese letters, which are the slowest to convert. */
const letters = (count: number): string =>
  String.fromCharCode(...Array.from({ length: count }, (_, i) => 0x4e00 + i));

t.test('returns one canonical form of a host', async (t) => {
  const forms: Record<string, string> = {
    'EXAMPLE.Com': 'example.com',
    'example.com.': 'example.com',
    localhost: 'localhost',
    'BÜCHER.example.': 'xn--bcher-kva.example',
    'xn--bcher-kva.example': 'xn--bcher-kva.example',
    'faß.de': 'xn--fa-hia.de',
    'example。com': 'example.com',
    'ｅｘａｍｐｌｅ.com': 'example.com',
    'a_b.example.com': 'a_b.example.com',
    '3d.example.com': '3d.example.com',
    'a--b.example.com': 'a--b.example.com',
    '192.0.2.1': '192.0.2.1',
    '0xC0.0.2.1': '192.0.2.1',
    '192.0.513': '192.0.2.1',
    '[2001:DB8:0:0::1]': '[2001:db8::1]',
    '[::ffff:192.0.2.1]': '[::ffff:c000:201]',
    [`${'a'.repeat(63)}.com`]: `${'a'.repeat(63)}.com`,
  };
  for (const [text, host] of Object.entries(forms)) t.equal(canonicalHost(text), host, text);
});

t.test('rejects texts that are not hosts', async (t) => {
  const texts = `
    . .. example..com .example.com example.com.. example.com:443 https://example.com //example.com
    example.com/ example.com\\ user@example.com example.com? example.com# exam%70le.com
    a＠example.com example.com／a example.com：80 ℀.example.com * *.example.com a*.example.com
    -a.example.com a-.example.com a!b.example.com a{b}.example.com xn--ü 256.0.0.1 1.2.3.4.5
    example.1 ::1 [::1 ::1] [::1]:80 [] [fe80::1%25eth0] [1.2.3.4] \u0000 a\u0000b.com`;
  const long = [
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
    'a'.repeat(100_000),
    letters(300),
  ];
  const blanks = ['', ' ', ' example.com', 'example.com\n', 'exam\tple.com'];
  for (const text of [...texts.trim().split(/\s+/), ...blanks, ...long]) {
    t.equal(canonicalHost(text), null, JSON.stringify(text.slice(0, 30)));
  }
});

t.test('rejects a text that is too long for a host and does not convert it', async (t) => {
  for (const [text, isLong] of [
    ['a'.repeat(1_024), false],
    ['a'.repeat(1_025), true],
    [letters(253), false],
    [letters(254), true],
    [`${'a'.repeat(253)}é`, true],
  ] as const) {
    t.equal(isLongAuthority(text), isLong, `${text.length} characters`);
  }
  const before = usedCpuMs();
  for (let i = 0; i < 20; i++) t.equal(canonicalHost(`${i}${letters(20_000)}`), null);
  t.ok(usedCpuMs() - before < 2_000, 'the conversion would take 20 s');
});

t.test("reads a reference's authority like the URL standard", async (t) => {
  for (const [reference, authority] of [
    ['https://a.example/b', 'a.example'],
    ['https://u:p@a.example:80?b', 'u:p@a.example:80'],
    ['//a.example#b', 'a.example'],
    ['\\\\a.example\\b', 'a.example'],
    ['ht\ttp:/\n/a.exa\rmple/', 'a.example'],
    [' https:///a.example', 'a.example'],
    ['/a/b', ''],
    ['a/b', ''],
    ['?//a', ''],
    ['', ''],
  ] as const) {
    t.equal(readAuthority(reference), authority, JSON.stringify(reference));
  }
  const piece = fc.constantFrom('http:', 'https:', '//', 'u:p', ...'/\\\t\n ?#@a.\0');
  const around = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  const host = 'h'.repeat(1_025);
  let long = 0;
  fc.assert(
    fc.property(around, around, (before, after) => {
      const reference = `${before}${host}${after}`;
      for (const base of ['http://b.example/c/d', 'https://b.example']) {
        const url = URL.canParse(reference, base) ? new URL(reference, base) : null;
        if (!url?.hostname.includes(host)) continue;
        // Hosts of other schemes are opaque: a backslash belongs to them, and they stay
        // unconverted.
        if (!/^https?:$/.test(url.protocol)) continue;
        long += 1;
        if (!isLongAuthority(readAuthority(reference))) return false;
      }
      return true;
    }),
    { numRuns: propertyRuns(3_000) },
  );
  t.ok(long > propertyRuns(3_000) / 30, `${long} had the long host`);
});

t.test('accepts a host, or a wildcard for its subdomains, as an allowlist entry', async (t) => {
  const entries = {
    'Example.com.': 'example.com',
    '*.Example.com.': '*.example.com',
    '*.bücher.example': '*.xn--bcher-kva.example',
  };
  for (const [text, entry] of Object.entries(entries)) t.equal(canonicalHostPattern(text), entry);
  const others = `* *. *..com **.example.com *.*.example.com a.*.example.com *example.com *.[::1]
    *.192.0.2.1 *.example.com:80 *.example.com/a *.u@example.com`;
  for (const text of others.split(/\s+/)) t.equal(canonicalHostPattern(text), null, text);
});

t.test('matches one or more labels with a wildcard', async (t) => {
  const allowlist = ['example.com', '*.example.org', '*.a.example.net'];
  for (const host of ['example.com', 'www.example.org', 'a.b.c.example.org', 'b.a.example.net']) {
    t.ok(hostMatches(allowlist, host), host);
  }
  const others = `www.example.com example.org .example.org badexample.org www.example.org.
    example.org.evil.example a.example.net`;
  for (const host of ['', ...others.split(/\s+/)]) t.notOk(hostMatches(allowlist, host), host);
  t.notOk(hostMatches([], 'example.com'));
});

t.test('returns a canonical host that is the same in a URL', async (t) => {
  let accepted = 0;
  const part = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'B', '.', '-', '_', '*', 'ü', '。', '＠', '1', '%') }),
    fc.constantFrom('*.', 'BÜCHER', 'a_b'),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), (parts) => {
      const text = parts.join('');
      const pattern = canonicalHostPattern(text);
      if (pattern === null) return true;
      accepted += 1;
      const host = pattern.replace(/^\*\./, '');
      const url = new URL(`https://u@${host}:8443/path`);
      return (
        canonicalHostPattern(pattern) === pattern &&
        url.hostname === host &&
        url.port === '8443' &&
        host.length <= 253 &&
        /^(?:\[[0-9a-f:]+\]|[a-z0-9_.-]+)$/.test(host)
      );
    }),
    { numRuns: propertyRuns(5_000) },
  );
  t.ok(accepted > propertyRuns(5_000) / 10, `${accepted} were accepted`);
});
