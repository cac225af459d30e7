import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t from 'tap';
import { readAddress, readOptions } from '../../server/image/address.ts';
import { explainUrl } from '../../server/image/explain-url.ts';
import { resolveSource } from '../../server/image/source-url.ts';
import { recogniseDialect } from '../../urls/src/index.ts';
import { rootPath } from '../root.ts';
import { urlExamples } from '../url-examples.ts';

const run = promisify(execFile);
const command = join(rootPath, 'bin/image-delivery.js');
const explain = (...args: string[]) =>
  run(process.execPath, [command, 'explain', ...args], { cwd: '/', env: {} }).then(
    ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
    (error) => error,
  );

const site = (urls: string, base: string | null = null) => ({
  project: {
    _id: 'prj_1',
    origin: 'https://shop.example/',
    allowedOrigins: ['shop.example'],
    presets: {},
    stripMetadata: true,
  },
  host: { host: 'img.example', base, urls, updatedAt: new Date(0) },
});
const size = { width: 1_600, height: 1_000 };
const parseOptions = (query: string) => readOptions(new Map(new URLSearchParams(query)));

t.test('finds the native queries of documented URLs', async (t) => {
  for (const [kind, examples] of Object.entries(urlExamples)) {
    for (const example of examples) {
      const { native } = explainUrl(example.url, site(kind), size);
      const query = native?.split('?')[1] ?? '';
      t.same(parseOptions(query), parseOptions(example.native), example.url);
    }
  }
});

t.test('keeps parameters that share a name with an ignored option', async (t) => {
  const url = '/a.jpg?rect=10,10,200,100&crop=top&constructor=1';
  const { native, ignored } = explainUrl(url, site('imgix'), null);
  t.match(native, '&crop=10%2C10%2C200%2C100');
  t.same(ignored, ['crop', 'constructor']);
});

t.test('keeps the place of an overlay', async (t) => {
  const url = '/a.jpg?mark=/logo.png&mark-w=90&mark-align=top,left';
  const { native, options } = explainUrl(url, site('imgix'), null);
  t.match(native, '&overlay.pos=northwest&overlay.w=90&');
  const { meaning = '' } = options.find(({ name }) => name === 'overlay') ?? {};
  t.notMatch(meaning, '](', 'no Markdown link');
});

t.test("recognises each service's URLs by their form", async (t) => {
  for (const [kind, examples] of Object.entries(urlExamples)) {
    // imgix has no paths of its own.
    const start = kind === 'imgix' ? 'https://x.imgix.net' : 'https://img.example';
    for (const { url } of examples) t.equal(recogniseDialect(start + url), kind, url);
  }
  for (const url of [
    '/a.jpg?w=300',
    '/a/b:c/d.jpg',
    '/img/https://res.cloudinary.com/demo/image/upload/w_3/a.jpg?project=prj_1',
    'https://img.example/img/https://x.imgix.net/a.jpg?project=prj_1',
  ]) {
    t.equal(recogniseDialect(url), null, url);
  }
  const { stdout } = await explain('https://res.cloudinary.com/demo/image/upload/w_3/a.jpg');
  t.match(stdout, 'Source: /a.jpg\n');
});

t.test('writes sources on the origin as paths, and others with their host', async (t) => {
  const url = '/_next/image?url=%2Fa.jpg&w=640&q=75&z=1';
  t.match(explainUrl(url, site('next'), null), {
    source: '/a.jpg',
    native: '/img/%2Fa.jpg?project=prj_1&dpr=1&fmt=auto&q=75&w=640',
    ignored: ['z'],
  });
  t.equal(
    explainUrl(url, site('next', 'https://files.example/m/'), null).source,
    'https://files.example/m/a.jpg',
  );
});

t.test("writes a path with two slashes so that it names the project's own host", async (t) => {
  for (const [kind, url] of [
    ['native', '//evil.example/a.jpg'],
    ['imgix', '//evil.example/a.jpg'],
    ['imgproxy', '/unsafe/plain///evil.example/a.jpg'],
    ['iiif', '/%2Fevil.example%2Fa.jpg/full/max/0/default.jpg'],
    ['native', '/img/%2F.%2F%2Fevil.example%2Fa.jpg?project=prj_1'],
  ] as const) {
    const { source, native } = explainUrl(url, site(kind), size);
    t.equal(source, '/.//evil.example/a.jpg', url);
    const [path = '', query = ''] = native?.split('?') ?? [];
    const read = readAddress(path, query).source;
    const { href } = resolveSource(read, 'https://shop.example/');
    t.equal(href, 'https://shop.example//evil.example/a.jpg', url);
  }
});

t.test('explains the URL of docs/delivery-hosts.md while no service runs', async (t) => {
  const page = await readFile(join(rootPath, 'docs/delivery-hosts.md'), 'utf8');
  const [, url = '', options = ''] = /^npx image-delivery explain '(.*)' (.*)$/m.exec(page) ?? [];
  const { stdout, stderr, code } = await explain(url, ...options.split(' '));
  t.same([code, stderr], [0, '']);
  t.match(stdout, 'Source: https://shop.example/a.jpg\nNative: /img/https%3A%2F%2Fshop.example');
  t.match(stdout, /^w=640 +Output width/m);
});

t.test('resolves a path below the base, even with an origin', async (t) => {
  const origin = 'https://shop.example';
  const { stdout } = await explain('/a.jpg', '--origin', origin, '--base', `${origin}/m/`);
  t.match(stdout, 'Source: https://shop.example/m/a.jpg\n');
});

t.test('explains native URLs, with their project', async (t) => {
  const url =
    '/img/https%3A%2F%2Fa.example%2Fa.jpg?project=prj_0123456789abcdef&width=300&magnify=2';
  const { stdout } = await explain(url, '--json');
  t.match(JSON.parse(stdout), {
    source: 'https://a.example/a.jpg',
    native: '/img/https%3A%2F%2Fa.example%2Fa.jpg?project=prj_0123456789abcdef&width=300',
    options: [{ name: 'width', value: '300', meaning: /width/ }],
    ignored: ['magnify'],
  });
});

t.test('rewrites the URLs of standard input line by line', async (t) => {
  const lines = [
    '/a.jpg?w=300',
    '',
    '/a.jpg?fit=facearea',
    'https://x.imgix.net/b%20c.png?w=9&fm=webp',
  ];
  const args = ['--rewrite', '--urls', 'imgix', '--project', 'prj_1'];
  const running = spawn(process.execPath, [command, 'explain', ...args], { env: {} });
  running.stdin.end(lines.join('\n'));
  const [stdout, stderr] = await Promise.all([readAll(running.stdout), readAll(running.stderr)]);
  t.same(stdout.split('\n'), [
    '/img/%2Fa.jpg?project=prj_1&dpr=1&enlarge=true&w=300',
    '',
    '',
    '/img/%2Fb%2520c.png?project=prj_1&dpr=1&enlarge=true&fmt=webp&w=9',
    '',
  ]);
  t.match(
    stderr,
    /^Line 3: fit=facearea has no equivalent here; the nearest is fit=crop with crop=faces\.\n$/,
  );
  t.equal(running.exitCode ?? (await once(running, 'exit'))[0], 1);
  const both = await explain('/a.jpg', '--rewrite');
  t.match([both.code, both.stderr], [1, /^--rewrite reads the URLs from standard input/]);
  t.match((await explain()).stderr, /^Add an image URL, or --rewrite\.$/m);
});

t.test('states each error in a single line', async (t) => {
  for (const [args, message] of [
    [['/img/%2Fa.jpg?w=x'], /^w must be a whole number/],
    [
      ['/image/upload/w_0,u_x/e_colorize:30,c_fill/a.jpg', '--urls', 'cloudinary'],
      /^u_x has .* stored layer\. w must be a number from 1.* c_fill needs w or h\. e_colorize:30 has .* tint\.$/,
    ],
    [['no-url'], /^The URL must be absolute, or start with a slash\.$/],
    [
      ['/a.jpg/full/max/0/default.jpg', '--urls', 'iiif'],
      /depends on the source's size: add --size/,
    ],
    [
      ['/a.jpg/info.json', '--urls', 'iiif', '--size', '9x9'],
      /^The URL leads to a document, not an image/,
    ],
    [['/a.jpg', '--urls', 'iiif'], /redirects to \/a\.jpg\/info\.json/],
    [['/a.jpg', '--urls', 'other'], /Allowed choices are native/],
    [['/a.jpg', '--origin', 'shop.example'], /must be an absolute http or https URL/],
    [['/a.jpg', '--size', '0x9'], /two numbers/],
    [[`/${'a'.repeat(20_000)}`], /more than 16384 characters/],
  ] as const) {
    const { stdout, stderr, code } = await explain(...args);
    t.same([stdout, code], ['', 1], args[0].slice(0, 50));
    t.match(stderr.trim(), message);
    t.equal(stderr.trim().split('\n').length, 1);
  }
  t.match((await explain('--help')).stdout, /--urls <service>/);
});
