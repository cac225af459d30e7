/** An app's files by path; null removes a file of its example. */
type Files = Readonly<Record<string, string | null>>;

interface SnippetApp {
  /** Example to write the files into; it provides the framework. */
  readonly example: string;
  /** True if the component states the size in the style instead of attributes. */
  readonly hasStyle?: boolean;
  /** Returns the snippet's app, which adds only the surrounding page. */
  files(code: string): Files;
}

const head = '<meta charset="utf-8"><title>Snippet</title><link rel="icon" href="data:,">';
const document = (body: string) => `<!doctype html><html lang="en">${head}${body}</html>`;

/** Serves a module's default export. */
const server = `import { createServer } from 'node:http';
import { page } from './page.js';

createServer(async (_, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(page);
}).listen(Number(process.env.PORT), '127.0.0.1');
`;

const plain = (page: string): Files => ({ 'server.js': server, 'page.js': page });

/** Returns a module with the SDK's snippet, and a page that uses its declarations. */
const ofSdk = (code: string): Files =>
  plain(`${code}

const text = (value) => String(value).replace(/[&"<>]/g, (character) => '&#' + character.charCodeAt(0) + ';');
const tag = (name, values) =>
  '<' + name + Object.entries(values).map(([key, value]) => value === undefined ? '' : ' ' + key + '="' + text(value) + '"').join('') + '>';
const element = ${
    code.includes('images.picture')
      ? `'<picture>' + sources.map((source) => tag('source', source)).join('') + tag('img', img) + '</picture>'`
      : `tag('img', { src: url, ...size })`
  };
export const page = ${JSON.stringify(document('ELEMENT'))}.replace('ELEMENT', () => element);
`);

/** Splits a snippet by the file names in its comments. */
function readParts(code: string): Readonly<Record<string, string>> {
  const parts = code.split(/^\/\/ ([\w.-]+\.\w+)\n/m).slice(1);
  const names = parts.filter((_, index) => index % 2 === 0);
  if (names.length === 0) throw new Error(`no file in the snippet:\n${code}`);
  return Object.fromEntries(names.map((name, index) => [name, parts[2 * index + 1] ?? '']));
}

/** Returns the component in a snippet's comment. */
function readComponent(code: string): string {
  const [, component] = /^\/\/ (<.*\/>)$/m.exec(code) ?? [];
  if (component === undefined) throw new Error(`no component in the snippet:\n${code}`);
  return component;
}

/** How each tab's snippet becomes an app. curl is not a page. */
export const snippetApps: Readonly<Record<string, SnippetApp>> = {
  HTML: {
    example: 'html',
    files: (code) => plain(`export const page = ${JSON.stringify(document(code))};`),
  },
  SDK: { example: 'html', files: ofSdk },
  Signed: { example: 'html', files: ofSdk },
  'Next.js': {
    example: 'next',
    files: (code) => ({
      'next.config.js': null,
      'app/signed': null,
      'app/thumbnail.jsx': null,
      ...readParts(code),
      'app/page.jsx': `import Image from 'next/image';

export default function Page() {
  return ${readComponent(code)};
}
`,
    }),
  },
  Nuxt: {
    example: 'nuxt',
    files: (code) => ({
      'app/pages': null,
      'server/api': null,
      ...readParts(code),
      'app/app.vue': `<template>${readComponent(code)}</template>`,
    }),
  },
  Astro: {
    example: 'astro',
    files: (code) => ({
      'astro.config.js': null,
      'images.js': null,
      'signed-images.js': null,
      ...readParts(code),
      'src/pages/index.astro': `---
import { Image } from 'astro:assets';
---
${document(readComponent(code))}
`,
    }),
  },
  unpic: {
    example: 'unpic-react',
    hasStyle: true,
    files: (code) => ({
      'src/picture.jsx': code,
      'src/main.jsx': `import { createRoot } from 'react-dom/client';
import { Picture } from './picture.jsx';

createRoot(document.getElementById('root')).render(<Picture />);
`,
    }),
  },
};
