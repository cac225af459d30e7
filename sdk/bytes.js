import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * `npm run build:sdk` prints each entry's bytes, and the bytes of other services' packages recorded
 * in `peers.json`: for a program that uses it, bundled by esbuild for production, minified and
 * gzipped.
 *
 * `node sdk/bytes.js --peers FOLDER` measures the packages installed in that folder instead, and
 * prints the contents for `peers.json`.
 */
const src = `'https://shop.example.com/coast.jpg'`;
const widths = '[320, 480, 640, 828, 1080, 1440, 1920, 2560, 3840]';
const urlAndSrcset = 'a URL and a srcset';
const name = '@image-delivery/sdk';
/** @typedef {{ package: string, does: string, code: string, server?: boolean }} Program */

/** @type {readonly Program[]} */
const own = [
  {
    package: name,
    does: urlAndSrcset,
    code: `import { createImageUrls } from '${name}';
      const urls = createImageUrls({ baseUrl: 'https://images.example.com', project: 'p' });
      export const url = urls.url(${src}, { w: 300, h: 200, fit: 'cover' });
      export const srcset = urls.srcset(${src}, { widths: ${widths} });`,
  },
  { package: `${name}/client`, does: 'all operations', code: `export * from '${name}/client';` },
  {
    package: `${name}/next`,
    does: 'the loader',
    code: `export { createLoader } from '${name}/next';`,
  },
  {
    package: `${name}/nuxt`,
    does: 'the provider',
    code: `export { default } from '${name}/nuxt';`,
  },
  {
    package: `${name}/astro`,
    does: 'the service, in builds only',
    code: `export { default } from '${name}/astro';`,
    server: true,
  },
  {
    package: `${name}/unpic`,
    does: 'the transformer',
    code: `export { transform } from '${name}/unpic';`,
  },
  {
    package: `${name}/sign`,
    does: 'both signers, on servers only',
    code: `export * from '${name}/sign';`,
    server: true,
  },
];

/** @type {readonly Program[]} */
const peers = [
  {
    package: '@imgix/js-core',
    does: urlAndSrcset,
    code: `import ImgixClient from '@imgix/js-core';
      const client = new ImgixClient({ domain: 'images.example.com' });
      export const url = client.buildURL('coast.jpg', { w: 300, h: 200, fit: 'crop' });
      export const srcset = client.buildSrcSet('coast.jpg', {}, { widths: ${widths} });`,
  },
  {
    package: '@cloudinary/url-gen',
    does: urlAndSrcset,
    code: `import { Cloudinary } from '@cloudinary/url-gen';
      import { fill, scale } from '@cloudinary/url-gen/actions/resize';
      const cloudinary = new Cloudinary({ cloud: { cloudName: 'example' } });
      export const url = cloudinary.image('coast').resize(fill().width(300).height(200)).toURL();
      export const srcset = ${widths}
        .map((w) => cloudinary.image('coast').resize(scale().width(w)).toURL() + ' ' + w + 'w')
        .join(', ');`,
  },
  {
    package: '@imgproxy/imgproxy-js-core',
    does: urlAndSrcset,
    code: `import { generateUrl } from '@imgproxy/imgproxy-js-core';
      const source = { value: ${src}, type: 'plain' };
      export const url = generateUrl(source, { resizing_type: 'fill', width: 300, height: 200 });
      export const srcset = ${widths}
        .map((width) => generateUrl(source, { width }) + ' ' + width + 'w')
        .join(', ');`,
  },
  {
    package: 'unpic',
    does: `${urlAndSrcset}, one service`,
    code: `import { transform } from 'unpic/providers/imgix';
      export const url = transform(${src}, { width: 300, height: 200 });
      export const srcset = ${widths}
        .map((width) => transform(${src}, { width }) + ' ' + width + 'w')
        .join(', ');`,
  },
  {
    package: 'unpic',
    does: `${urlAndSrcset}, all services`,
    code: `import { transformUrl } from 'unpic';
      export const url = transformUrl({ url: ${src}, width: 300, height: 200 });
      export const srcset = ${widths}
        .map((width) => transformUrl({ url: ${src}, width }) + ' ' + width + 'w')
        .join(', ');`,
  },
];

/**
 * Measures a program.
 * @param {Program} program
 * @param {string} folder where its package is installed
 */
async function measure({ package: packageName, does, code, server = false }, folder) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: server ? 'node' : 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
    write: false,
  });
  const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length;
  return { package: packageName, does, bytes };
}

/** The installed version of a package. */
const readVersion = (folder, packageName) =>
  JSON.parse(readFileSync(join(folder, 'node_modules', packageName, 'package.json'), 'utf8'))
    .version;

async function measurePeers(folder) {
  const measured = [];
  for (const peer of peers) {
    const version = readVersion(folder, peer.package);
    measured.push({ ...(await measure(peer, folder)), version });
  }
  const date = new Date().toISOString().slice(0, 10);
  return { date, packages: measured };
}

async function table() {
  const { date, packages } = JSON.parse(
    readFileSync(new URL('peers.json', import.meta.url), 'utf8'),
  );
  const rows = [];
  for (const program of own) rows.push(await measure(program, import.meta.dirname));
  const line = ({ package: packageName, version = '', does, bytes }) =>
    `${bytes.toLocaleString('en').padStart(7)}  ${`${packageName} ${version}`.padEnd(34)}  ${does}`;
  return [
    'Bytes, bundled, minified and gzipped:',
    ...rows.map(line),
    `Other services, measured ${date}:`,
    ...packages.map(line),
  ].join('\n');
}

const { values } = parseArgs({ options: { peers: { type: 'string' } } });
const text = values.peers
  ? JSON.stringify(await measurePeers(values.peers), null, 2)
  : await table();
process.stdout.write(`${text}\n`);
