import {
  type ParameterName,
  parameterNames,
  parameters,
} from '../../../server/image/parameters.ts';
import { words } from './words.ts';

/** Values that the hostile URLs contain. */
export interface Scene {
  /** Port of the origin on 127.0.0.1, a private source at this port only. */
  readonly port: number;
  /** Port of the service. */
  readonly ownPort: number;
  readonly project: string;
}

export type HostileUrl = readonly [
  what: string,
  target: string,
  status: number,
  /** Code of the error; null for an image. */
  code: string | null,
];

/** Hosts on the allowlist of the project, besides 127.0.0.1 and localhost. */
export const allowedHosts = words(`
  allowed.test *.wild.test private.test mixed.test metadata.test loopback.test own.test
  xn--bcher-kva.test 169.254.169.254 10.0.0.1 0.0.0.0 168.63.129.16 [::1] [::] [::ffff:7f00:1] [fe80::1]
  [64:ff9b::7f00:1] [2002:7f00:1::] metadata.google.internal printer.local`);

/** Addresses that the names resolve to. */
export const addresses: Readonly<Record<string, readonly string[]>> = {
  'private.test': ['10.1.2.3'],
  'mixed.test': ['93.184.216.34', '10.1.2.3'],
  'metadata.test': ['169.254.169.254'],
  'loopback.test': ['127.0.0.1'],
  'own.test': ['127.0.0.1'],
};

const blocked = [403, 'source_blocked'] as const;
const notAllowed = [403, 'source_not_allowed'] as const;
const invalid = [400, 'source_invalid'] as const;
const badParameter = [400, 'parameter_invalid'] as const;
const noEndpoint = [404, 'endpoint_not_found'] as const;
const noProject = [404, 'project_not_found'] as const;
const noPreset = [404, 'preset_not_found'] as const;
const notFound = [404, 'source_not_found'] as const;
const noSource = [400, 'source_missing'] as const;
const noProjectNamed = [400, 'project_missing'] as const;
const delivered = [200, null] as const;

export function hostileUrls({ port, ownPort, project }: Scene): HostileUrl[] {
  const picture = `http://127.0.0.1:${port}/a.png`;
  const e = encodeURIComponent;
  const direct = (source: string, more = '') => `/img/${source}?project=${project}${more}`;
  const encoded = (source: string, more = '') => direct(e(source), more);
  const inQuery = (source: string) => `/img/?project=${project}&url=${e(source)}`;
  const onOrigin = (path: string) => encoded(`http://127.0.0.1:${port}${path}`);
  const withProject = (text: string) => `/img/${picture}?project=${text}`;
  const withQuery = (query: string) => withProject(`${project}&${query}`);

  return [
    // Hosts outside of the allowlist.
    ['a host outside of the allowlist', encoded('http://evil.test/a.png'), ...notAllowed],
    ['an allowed host as a prefix', encoded('http://allowed.test.evil.test/'), ...notAllowed],
    ['an allowed host as a suffix', encoded('http://evilallowed.test/'), ...notAllowed],
    ['the base of a wildcard', encoded('http://wild.test/'), ...notAllowed],
    ['a wildcard without its dot', encoded('http://evilwild.test/'), ...notAllowed],
    ['a host below one without a wildcard', encoded('http://a.allowed.test/'), ...notAllowed],
    ['the wildcard itself', encoded('http://*.wild.test/'), ...notAllowed],
    ['an allowed host in the path', encoded('http://evil.test/allowed.test/'), ...notAllowed],
    ['an allowed host in the query', encoded('http://evil.test/?h=allowed.test'), ...notAllowed],
    ['an allowed host in the fragment', encoded('http://evil.test/#@allowed.test'), ...notAllowed],
    [
      'a backslash before an allowed host',
      encoded('http://evil.test\\@allowed.test/'),
      ...notAllowed,
    ],
    ['a comma in the host', encoded('http://evil.test,allowed.test/'), ...notAllowed],
    ['a tab in the host', encoded('http://evil.te\tst/'), ...notAllowed],
    ['a fullwidth dot', encoded('http://evil\uff0etest/'), ...notAllowed],
    ['a soft hyphen in an evil host', encoded('http://ev\u00adil.test/'), ...notAllowed],
    ['a single label', encoded('http://allowed/'), ...notAllowed],
    ['another case of an allowed host', encoded('HTTP://PRIVATE.TEST/a.png'), ...blocked],
    ['a trailing dot of an allowed host', encoded('http://private.test./a.png'), ...blocked],
    ['an allowed picture', encoded(picture), ...delivered],

    // User names.
    ['a user name', encoded(`http://user@127.0.0.1:${port}/a.png`), ...invalid],
    ['a user name and a password', encoded(`http://a:b@127.0.0.1:${port}/a.png`), ...invalid],
    ['an allowed host as a user name', encoded('http://allowed.test@evil.test/'), ...invalid],
    [
      'an allowed host and a port as a user name',
      encoded('http://allowed.test:80@evil.test/'),
      ...invalid,
    ],
    ['two at signs', encoded('http://a@b@127.0.0.1/'), ...invalid],
    ['an escaped at sign', direct('http://allowed.test%40evil.test/'), ...invalid],
    ['an empty password', encoded(`http://:@127.0.0.1:${port}/a.png`), ...delivered],

    // Spellings of addresses.
    ['a decimal IPv4 address', encoded(`http://2130706433:${port}/a.png`), ...delivered],
    ['a hexadecimal IPv4 address', encoded(`http://0x7f000001:${port}/a.png`), ...delivered],
    ['an octal IPv4 address', encoded(`http://0177.0.0.1:${port}/a.png`), ...delivered],
    ['a short IPv4 address', encoded(`http://127.1:${port}/a.png`), ...delivered],
    ['fullwidth digits', encoded(`http://１２７.0.0.1:${port}/a.png`), ...delivered],
    ['circled digits', encoded(`http://①②⑦.⓪.⓪.①:${port}/a.png`), ...delivered],
    ['another loopback address', encoded(`http://127.0.0.2:${port}/a.png`), ...notAllowed],
    ['another loopback address in decimal', encoded('http://2130706434/a.png'), ...notAllowed],
    ['a decimal address above IPv4', encoded('http://4294967296/a.png'), ...invalid],
    ['a part above 255', encoded('http://127.0.0.256/a.png'), ...invalid],
    ['five parts', encoded('http://1.2.3.4.5/a.png'), ...invalid],
    ['the metadata address', encoded('http://169.254.169.254/latest/'), ...blocked],
    ['the metadata address in decimal', encoded('http://2852039166/latest/'), ...blocked],
    ['the metadata address in hexadecimal', encoded('http://0xa9fea9fe/latest/'), ...blocked],
    ['the metadata address in octal', encoded('http://0251.0376.0251.0376/latest/'), ...blocked],
    ['a private address', encoded('http://10.0.0.1/'), ...blocked],
    ['a private address, short', encoded('http://10.1/'), ...blocked],
    ['the unspecified address', encoded(`http://0.0.0.0:${port}/a.png`), ...blocked],
    ['the unspecified address, short', encoded(`http://0:${port}/a.png`), ...blocked],
    ["Azure's platform", encoded('http://168.63.129.16/'), ...blocked],
    ['loopback of IPv6', encoded(`http://[::1]:${port}/a.png`), ...blocked],
    ['loopback of IPv6 in full', encoded('http://[0:0:0:0:0:0:0:1]/'), ...blocked],
    ['the unspecified address of IPv6', encoded('http://[::]/'), ...blocked],
    ['IPv4 in IPv6', encoded('http://[::ffff:127.0.0.1]/'), ...blocked],
    ['NAT64', encoded('http://[64:ff9b::127.0.0.1]/'), ...blocked],
    ['6to4', encoded('http://[2002:7f00:1::]/'), ...blocked],
    ['a link-local address', encoded('http://[fe80::1]/'), ...blocked],
    ['a zone', encoded('http://[fe80::1%25eth0]/'), ...invalid],
    ['an open bracket', encoded('http://[::1/'), ...invalid],
    ['IPv6 without brackets', encoded('http://::1/'), ...invalid],

    // Names of private addresses.
    ['localhost', encoded(`http://localhost:${port}/a.png`), ...blocked],
    ['a cloud metadata name', encoded('http://metadata.google.internal/'), ...blocked],
    ['a name of the local network', encoded('http://printer.local/'), ...blocked],
    ['a name with a private address', encoded('http://private.test/a.png'), ...blocked],
    ['a name with a private and a public address', encoded('http://mixed.test/a.png'), ...blocked],
    ['a name with the metadata address', encoded('http://metadata.test/latest/'), ...blocked],
    ['a name of the origin', encoded(`http://loopback.test:${port}/a.png`), ...delivered],
    ['the service by a name', encoded(`http://own.test:${ownPort}/api/health`), ...blocked],
    ['the service itself', encoded(`http://127.0.0.1:${ownPort}/api/health`), ...blocked],
    ['the service by a number', encoded(`http://2130706433:${ownPort}/img/`), ...blocked],

    // Ports.
    ['the port of SSH', encoded('http://allowed.test:22/'), ...blocked],
    ['the port of SMTP', encoded('http://allowed.test:25/'), ...blocked],
    ['a port of another private service', encoded('http://127.0.0.1:6379/'), ...blocked],
    ['port 0', encoded('http://127.0.0.1:0/'), ...blocked],
    ['a port above 65535', encoded('http://127.0.0.1:65536/'), ...invalid],
    ['a negative port', encoded('http://127.0.0.1:-1/'), ...invalid],
    ['a port that is not a number', encoded('http://127.0.0.1:http/'), ...invalid],
    ['a port with leading zeros', encoded(`http://127.0.0.1:0${port}/a.png`), ...delivered],

    // Schemes.
    ['file', encoded('file:///etc/passwd'), ...invalid],
    ['data', encoded('data:image/png;base64,AAAA'), ...invalid],
    ['ftp', encoded('ftp://127.0.0.1/a.png'), ...invalid],
    ['gopher', encoded('gopher://127.0.0.1:6379/_INFO'), ...invalid],
    ['javascript', encoded('javascript:alert(1)'), ...invalid],
    ['blob', encoded('blob:http://127.0.0.1/a'), ...invalid],
    ['a websocket', encoded('ws://127.0.0.1/'), ...invalid],
    ['no scheme', encoded('//127.0.0.1/a.png'), ...invalid],
    ['a path', encoded('/etc/passwd'), ...invalid],
    ['one slash, encoded', encoded(`http:/127.0.0.1:${port}/a.png`), ...invalid],
    ['one slash, as a proxy leaves it', direct(`http:/127.0.0.1:${port}/a.png`), ...delivered],
    ['three slashes', encoded('http:///127.0.0.1/a.png'), ...invalid],
    ['no slash', encoded('http:127.0.0.1/a.png'), ...invalid],
    ['backslashes', encoded('http:\\\\127.0.0.1\\a.png'), ...invalid],
    ['no host', encoded('http://'), ...invalid],
    ['a scheme with a tab', encoded('ht\ttp://127.0.0.1/'), ...invalid],

    // Encodings.
    ['encoded twice', direct(e(e(picture))), ...invalid],
    ['a lone percent sign', direct('%'), ...invalid],
    ['half an escape', direct('http%3A%2F%2F127.0.0.1%2F%f'), ...invalid],
    ['invalid UTF-8', direct('%ff%fe'), ...invalid],
    ['an overlong slash', direct('http:%c0%af%c0%af127.0.0.1'), ...invalid],
    ['a NUL in the host', encoded('http://127.0.0.1\0.evil.test/'), ...invalid],
    ['a NUL in the path', onOrigin('/a.png\0.jpg'), ...notFound],
    ['a host with escapes', encoded(`http://%31%32%37.0.0.1:${port}/a.png`), ...delivered],
    ['an escaped slash in the host', encoded('http://127.0.0.1%2F.evil.test/'), ...invalid],
    ['a space in the host', encoded('http://127.0.0.1 .evil.test/'), ...invalid],
    ['surrounding blanks', encoded(`  ${picture}\n`), ...delivered],
    ['a line break in the path', onOrigin('/a\r\n.png'), ...delivered],
    ['a header in the path', onOrigin('/b\r\nHost: evil.test\r\n\r\n'), ...notFound],
    [
      'an escaped header in the path',
      direct(`http://127.0.0.1:${port}/b%0d%0aHost:%20evil.test`),
      ...notFound,
    ],
    ['a right-to-left override', onOrigin('/\u202egnp.exe'), ...notFound],
    ['a right-to-left override in the host', encoded('http://allowed\u202e.test/'), ...invalid],
    ['a byte order mark before', encoded(`\ufeff${picture}`), ...delivered],
    ['a fragment', encoded(`${picture}#?project=prj_0000000000000000`), ...delivered],
    ['path traversal', onOrigin('/x/../../../a.png'), ...delivered],
    ['path traversal with escapes', onOrigin('/x/%2e%2e/a.png'), ...delivered],
    ['template characters', onOrigin(`/{{7*7}}\${7*7}<%=1%>`), ...notFound],
    ['markup', onOrigin(`/<script>"'`), ...notFound],

    // Internationalised names.
    ['a name as Unicode', encoded('http://bücher.test:22/'), ...blocked],
    ['the same name as ASCII', encoded('http://XN--BCHER-KVA.test:22/'), ...blocked],
    ['a Cyrillic letter', encoded('http://\u0430llowed.test/'), ...notAllowed],
    ['broken punycode', encoded('http://xn--ü/'), ...invalid],
    ['an invisible joiner', encoded('http://allowed\u200d.test/'), ...invalid],
    ['a dotless i', encoded('http://w\u0131ld.test/'), ...notAllowed],
    ['a mathematical letter', encoded('http://\ud835\udc1ellowed.test/'), ...notAllowed],
    ['a Kelvin sign in an evil host', encoded('http://\u212aevil.test/'), ...notAllowed],

    // Long names.
    ['a source of 8,193 characters', encoded(`http://127.0.0.1/${'a'.repeat(8_176)}`), ...invalid],
    [
      'a host of 300 characters',
      encoded(
        `http://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.test/`,
      ),
      ...notAllowed,
    ],
    ['a label of 64', encoded(`http://${'a'.repeat(64)}.wild.test/`), ...notAllowed],
    ['100 labels', encoded(`http://${'a.'.repeat(100)}wild.test:22/`), ...blocked],

    // Paths and the parameter url.
    [
      'an image URL as the source',
      encoded(`http://127.0.0.1:${ownPort}/img/${picture}?project=${project}`),
      ...blocked,
    ],
    ['an image URL below another', direct(`img/${picture}`), ...invalid],
    ['no source', direct(''), ...noSource],
    ['no source in url', inQuery(''), ...noSource],
    ['a blank source', inQuery(' '), ...invalid],
    ['a path before /img/', `/x/../img/${e(picture)}?project=${project}`, ...noEndpoint],
    ['/img/ in another case', `/IMG/${e(picture)}?project=${project}`, ...noEndpoint],
    ['an escaped /img/', `/%69mg/${e(picture)}?project=${project}`, ...noEndpoint],
    ['two slashes', `//img/${e(picture)}?project=${project}`, ...noEndpoint],
    ['a path out of /img/', `/img/../api/sdk/v1/projects?project=${project}`, ...invalid],
    ['a path into the control plane', '/api/sdk/v1/../../../img/', ...noEndpoint],
    [
      'a source in the path and in url',
      `${encoded('http://evil.test/')}&url=${e(picture)}`,
      ...notAllowed,
    ],
    [
      'url twice',
      `/img/?project=${project}&url=${e(picture)}&url=http%3A%2F%2Fevil.test`,
      ...badParameter,
    ],

    // Projects.
    ['no project', `/img/${picture}`, ...noProjectNamed],
    ['an empty project', withProject(''), ...noProjectNamed],
    ['project twice', withQuery(`project=${project}`), ...badParameter],
    ['__proto__ as the project', withProject('__proto__'), ...noProject],
    ['constructor as the project', withProject('constructor'), ...noProject],
    ['an operator as the project', `/img/${picture}?project[$ne]=x`, ...noProjectNamed],
    ['JSON as the project', withProject(e('{"$gt":""}')), ...noProject],
    ['a NUL after the project', withProject(`${project}%00`), ...noProject],
    ['the project in another case', withProject(project.toUpperCase()), ...noProject],
    ['a long project', withProject('p'.repeat(4_000)), ...noProject],
    ['markup as the project', withProject('%3Cscript%3E'), ...noProject],
    ['a lone surrogate as the project', withProject('%ed%a0%80'), ...noProject],

    // Names of parameters.
    ['__proto__', withQuery('__proto__=1&__proto__[w]=2'), ...delivered],
    ['constructor', withQuery('constructor=1&constructor.prototype.w=0'), ...delivered],
    ['toString', withQuery('toString=1&hasOwnProperty=1&valueOf=1'), ...delivered],
    ['a parameter twice', withQuery('w=5&w=6'), ...badParameter],
    ['a parameter and its alias', withQuery('w=5&width=6'), ...badParameter],
    ['brackets', withQuery('w[]=5&w[$gt]=1'), ...delivered],
    ['an escaped name twice', withQuery('w=5&%77=6'), ...badParameter],
    ['another case', withQuery('W=5'), ...badParameter],
    ['90 unknown parameters', withQuery('x=1&'.repeat(90)), ...delivered],
    ['1,000 unknown parameters', withQuery('x=1&'.repeat(1_000)), ...badParameter],
    ['only ampersands', withQuery('&'.repeat(90)), ...delivered],
    ['many ampersands', withQuery('&'.repeat(500)), ...badParameter],
    ['a semicolon', withQuery('w=5;h=5'), ...badParameter],

    // Just outside of each range.
    ...outOfRange.map(
      (assignment): HostileUrl => [assignment, withQuery(assignment), ...badParameter],
    ),
  ];
}

/** Every parameter with every value of `edges`. */
export function hostileValues({ port, project }: Scene): HostileUrl[] {
  const target = `/img/http://127.0.0.1:${port}/a.png?project=${project}`;
  return parameterNames.flatMap((name) =>
    edgesOf(name).map(
      (value): HostileUrl => [
        `${name}=${value.slice(0, 20)}`,
        `${target}&${name}=${value}`,
        ...answerTo(name, value),
      ],
    ),
  );
}

/** Parameters that are not part of a transform may accept any text. */
function answerTo(
  name: ParameterName,
  value: string,
): readonly [status: number, code: string | null] {
  const text = new URLSearchParams(`value=${value}`).get('value') ?? '';
  const { role, parse } = parameters[name];
  if (role === 'transform' || parse(text) === undefined) return badParameter;
  return name === 'preset' ? noPreset : delivered;
}

/** 1e3 is a colour in hexadecimal. */
const edgesOf = (name: string): readonly string[] =>
  name === 'bg' || name === 'tint' ? edges.filter((value) => value !== '1e3') : edges;

/** Values that no number, word or colour accepts. */
const edges = [
  ...words('NaN Infinity 1e3 0x10 99999999999 -0.0000001 1,2,3,4,5 %00 %0d%0a 1%00 %E2%80%AE1'),
  ...words('__proto__ constructor {{7*7}} 1%20 +1'),
  '9'.repeat(1_000),
];

/** Values just outside of each range. */
const outOfRange = words(`
  w=0 w=10001 w=-1 w=1.5 w= h=0 h=10001 q=0 q=101 dpr=0 dpr=0.99 dpr=3.01 blur=0.29 blur=100.1
  sharpen=0.009 sharpen=10.1 trim=-1 trim=100.1 rotate=-361 rotate=360.1 gamma=0.9 gamma=3.1
  brightness=-1 brightness=10.1 saturation=-0.1 saturation=11 hue=-361 hue=361 hue=1.5
  lightness=-101 lightness=101 threshold=-1 threshold=256 median=0 median=16 opacity=-0.1
  opacity=1.1 crop=0,0,0,1 crop=-1,0,1,1 crop=0,0,100001,1 crop=0,0,1 crop=,,, extend=-1,0,0,0
  extend=0,0,0,2001 extend=1 modulate=1,1,1 modulate=11,1,0,0 bg=gggggg bg=%23fff bg=12 tint= flip=2
  lossless=yes animated=-1 fit=Cover2 fp=1.1,0 fp=-0.1,0 fp=0.5 page=-1 page=100000 frame=1.5
  lenient=2 fallback= fallback=//a.example fallback=file:///etc/passwd fallback=http://u:p@a.b/
  download= download=.. download=%0d%0a preset= fmt=svg fmt=image/png kernel=lanczos pos=middle
  enlarge=on`);
