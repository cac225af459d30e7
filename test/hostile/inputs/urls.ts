import { parameterNames, parameters } from '../../../server/image/parameters.ts';
import { words } from './bytes.ts';

/** Values that the hostile URLs contain. */
export interface Scene {
  /** Port of the origin on 127.0.0.1, a private source at this port only. */
  readonly port: number;
  /** Port of the service. */
  readonly ownPort: number;
  readonly project: string;
}

export interface HostileUrl {
  readonly what: string;
  readonly target: string;
  readonly status: number;
  /** Code of the error; null for an image. */
  readonly code: string | null;
}

/** Hosts on the project's allowlist, in addition to 127.0.0.1 and localhost. */
export const allowedHosts = words(`
  allowed.test *.wild.test private.test mixed.test metadata.test loopback.test own.test
  xn--bcher-kva.test 169.254.169.254 10.0.0.1 0.0.0.0 [::1]`);

/** Addresses that the names resolve to. */
export const addresses: Readonly<Record<string, readonly string[]>> = {
  'private.test': ['10.1.2.3'],
  'mixed.test': ['93.184.216.34', '10.1.2.3'],
  'metadata.test': ['169.254.169.254'],
  'loopback.test': ['127.0.0.1'],
  'own.test': ['127.0.0.1'],
};

/**
 * URLs for a whole service. The parsers' unit tests cover every spelling of a host, address, port
 * and parameter.
 */
export function hostileUrls({ port, ownPort, project }: Scene): HostileUrl[] {
  const picture = `http://127.0.0.1:${port}/a.png`;
  const e = encodeURIComponent;
  const direct = (source: string) => `/img/${source}?project=${project}`;
  const encoded = (source: string) => direct(e(source));
  const at = (host: string) => encoded(`http://${host}:${port}/a.png`);
  const onOrigin = (path: string) => encoded(`http://127.0.0.1:${port}${path}`);
  const withProject = (text: string) => `/img/${picture}?project=${text}`;
  const withQuery = (query: string) => withProject(`${project}&${query}`);
  const long = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(60)).join('.');

  const notAllowed = {
    'a host outside of the allowlist': encoded('http://evil.test/a.png'),
    'an allowed host in the path': encoded('http://evil.test/allowed.test/'),
    'an allowed host in the query': encoded('http://evil.test/?h=allowed.test'),
    'an allowed host in the fragment': encoded('http://evil.test/#@allowed.test'),
    'a backslash before an allowed host': encoded('http://evil.test\\@allowed.test/'),
    'a comma in the host': encoded('http://evil.test,allowed.test/'),
    'a tab in the host': encoded('http://evil.te\tst/'),
    'a fullwidth dot': encoded('http://evil\uff0etest/'),
    'a soft hyphen': encoded('http://ev\u00adil.test/'),
    'a single label': encoded('http://allowed/'),
    'a Cyrillic letter': encoded('http://\u0430llowed.test/'),
    'a dotless i': encoded('http://w\u0131ld.test/'),
    'a mathematical letter': encoded('http://\ud835\udc1ellowed.test/'),
    'a Kelvin sign': encoded('http://\u212aevil.test/'),
    'a host of 300 characters': encoded(`http://${long}.test/`),
    'another loopback address': at('127.0.0.2'),
    'another loopback address as a number': encoded('http://2130706434/a.png'),
  };
  const blocked = {
    'the metadata address': encoded('http://169.254.169.254/latest/'),
    'the metadata address as a number': encoded('http://2852039166/latest/'),
    'a private address': encoded('http://10.0.0.1/'),
    'the unspecified address': at('0.0.0.0'),
    'the loopback address of IPv6': at('[::1]'),
    localhost: at('localhost'),
    'a name with a private address': encoded('HTTP://PRIVATE.TEST./a.png'),
    'a name with a private and a public address': encoded('http://mixed.test/a.png'),
    'a name with the metadata address': encoded('http://metadata.test/latest/'),
    'the port of SSH': encoded('http://allowed.test:22/'),
    'the port of SSH at a Unicode name': encoded('http://bücher.test:22/'),
    'the port of SSH at 100 labels': encoded(`http://${'a.'.repeat(100)}wild.test:22/`),
    'a port of another private service': encoded('http://127.0.0.1:6379/'),
    'port 0': encoded('http://127.0.0.1:0/'),
    'the service': encoded(`http://127.0.0.1:${ownPort}/api/health`),
    'the service by a name': encoded(`http://own.test:${ownPort}/api/health`),
    'the service by a number': encoded(`http://2130706433:${ownPort}/img/`),
    'an image URL': encoded(`http://127.0.0.1:${ownPort}/img/${picture}?project=${project}`),
  };
  const invalid = {
    'an allowed host as a user name': encoded('http://allowed.test:80@evil.test/'),
    'two at signs': encoded('http://a@b@127.0.0.1/'),
    'an escaped at sign': direct('http://allowed.test%40evil.test/'),
    'an address above 32 bits': encoded('http://4294967296/a.png'),
    'a negative port': encoded('http://127.0.0.1:-1/'),
    'the scheme gopher': encoded('gopher://127.0.0.1:6379/_INFO'),
    'a scheme with a tab': encoded('ht\ttp://127.0.0.1/'),
    'no scheme': encoded('//127.0.0.1/a.png'),
    'one slash, encoded': encoded(`http:/127.0.0.1:${port}/a.png`),
    backslashes: encoded('http:\\\\127.0.0.1\\a.png'),
    'no host': encoded('http://'),
    'encoded twice': direct(e(e(picture))),
    'a lone percent sign': direct('%'),
    'invalid UTF-8': direct('%ff%fe'),
    'an overlong slash': direct('http:%c0%af%c0%af127.0.0.1'),
    'a NUL in the host': encoded('http://127.0.0.1\0.evil.test/'),
    'an escaped slash in the host': encoded('http://127.0.0.1%2F.evil.test/'),
    'a right-to-left override in the host': encoded('http://allowed\u202e.test/'),
    'an invisible joiner': encoded('http://allowed\u200d.test/'),
    'an image URL below another': direct(`img/${picture}`),
    'a path out of /img/': `/img/../api/sdk/v1/projects?project=${project}`,
  };
  const notFound = {
    'a NUL in the path': onOrigin('/a.png\0.jpg'),
    'a header in the path': onOrigin('/b\r\nHost: evil.test\r\n\r\n'),
    'an escaped header': direct(`http://127.0.0.1:${port}/b%0d%0aHost:%20evil.test`),
    'a right-to-left override in the path': onOrigin('/\u202egnp.exe'),
    'template characters': onOrigin(`/{{7*7}}\${7*7}<%=1%>`),
    markup: onOrigin(`/<script>"'`),
  };
  const noEndpoint = {
    'a path before /img/': `/x/..${encoded(picture)}`,
    '/img/ in another case': encoded(picture).replace('img', 'IMG'),
    'an escaped /img/': encoded(picture).replace('img', '%69mg'),
    'two slashes': `/${encoded(picture)}`,
    'a path into the control plane': '/api/sdk/v1/../../../img/',
  };
  const noProject = {
    '__proto__ as the project': withProject('__proto__'),
    'JSON as the project': withProject(e('{"$gt":""}')),
    'a NUL after the project': withProject(`${project}%00`),
    'the project in another case': withProject(project.toUpperCase()),
    'a long project': withProject('p'.repeat(4_000)),
    'markup as the project': withProject('%3Cscript%3E'),
    'a lone surrogate as the project': withProject('%ed%a0%80'),
  };
  const badParameter = {
    'a parameter in another case': withQuery('W=5'),
    'a semicolon': withQuery('w=5;h=5'),
    'many ampersands': withQuery('&'.repeat(500)),
    ...Object.fromEntries(badAssignments().map((text) => [text.slice(0, 30), withQuery(text)])),
  };
  const delivered = {
    'an allowed picture': encoded(picture),
    'an empty password': encoded(`http://:@127.0.0.1:${port}/a.png`),
    'an address as a number': at('2130706433'),
    'circled digits': at('①②⑦.⓪.⓪.①'),
    'a host with escapes': at('%31%32%37.0.0.1'),
    'a name of the origin': at('loopback.test'),
    'a port with leading zeros': encoded(`http://127.0.0.1:0${port}/a.png`),
    'surrounding white space': encoded(`  ${picture}\n`),
    'a line break in the path': onOrigin('/a\r\n.png'),
    'a byte order mark': encoded(`\ufeff${picture}`),
    'a fragment': encoded(`${picture}#?project=prj_0000000000000000`),
    'path traversal': onOrigin('/x/../../../a.png'),
    'path traversal with escapes': onOrigin('/x/%2e%2e/a.png'),
    'the prototype as a parameter': withQuery('__proto__=1&__proto__[w]=2&toString=1'),
    'the constructor as a parameter': withQuery('constructor=1&constructor.prototype.w=0'),
    brackets: withQuery('w[]=5&w[$gt]=1'),
  };
  return [
    ...answered(403, 'source_not_allowed', notAllowed),
    ...answered(403, 'source_blocked', blocked),
    ...answered(400, 'source_invalid', invalid),
    ...answered(404, 'source_not_found', notFound),
    ...answered(404, 'endpoint_not_found', noEndpoint),
    ...answered(404, 'project_not_found', noProject),
    ...answered(400, 'project_missing', { 'an operator': `/img/${picture}?project[$ne]=x` }),
    ...answered(400, 'parameter_invalid', badParameter),
    ...answered(200, null, delivered),
  ];
}

function answered(
  status: number,
  code: string | null,
  targets: Readonly<Record<string, string>>,
): HostileUrl[] {
  return Object.entries(targets).map(([what, target]) => ({ what, target, status, code }));
}

/**
 * Returns every transform parameter with invalid values: for numbers, words and colours, and out of
 * range.
 */
function badAssignments(): string[] {
  const values = [
    ...words('NaN 0x10 99999999999 1,2,3,4,5 %00 %0d%0a %E2%80%AE1 __proto__ {{7*7}} 1%20 +1'),
    '9'.repeat(1_000),
  ];
  const names = parameterNames.filter((name) => parameters[name].role === 'transform');
  const outOfRange = words(`
    saturation=-0.1 saturation=11 dpr=0.99 crop=0,0,100001,1 lenient=2 enlarge=on download=%0d%0a
    preset= fallback= fallback=//a.example fallback=file:///etc/passwd fallback=http://u:p@a.b/`);
  return [...names.flatMap((name) => values.map((value) => `${name}=${value}`)), ...outOfRange];
}
