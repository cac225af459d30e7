import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * `npm run build:sdk` prints each entry's bytes: for a program that uses it, bundled by esbuild for
 * production, minified and gzipped.
 */
const name = '@image-delivery/sdk';
/** @typedef {{ package: string, does: string, code: string, server?: boolean }} Program */

/** @type {readonly Program[]} */
const programs = [
  {
    package: name,
    does: 'a URL and a srcset',
    code: `import { createImageUrls } from '${name}';
      const urls = createImageUrls({ baseUrl: 'https://images.example.com', project: 'p' });
      const src = 'https://shop.example.com/coast.jpg';
      export const url = urls.url(src, { w: 300, h: 200, fit: 'cover' });
      export const srcset = urls.srcset(src, { widths: [320, 640, 1080, 1920, 3840] });`,
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

/** @param {Program} program */
async function measure({ code, server = false }) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: server ? 'node' : 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
    write: false,
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

const lines = [];
for (const program of programs) {
  const bytes = await measure(program);
  const columns = [
    bytes.toLocaleString('en').padStart(7),
    program.package.padEnd(26),
    program.does,
  ];
  lines.push(columns.join('  '));
}
process.stdout.write(`Bytes, bundled, minified and gzipped:\n${lines.join('\n')}\n`);
