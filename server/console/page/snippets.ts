import { imageUrl, type PageImage } from './image-url.ts';
import { type ImageFacts, pictureCode, proportionOf } from './picture-code.ts';

/** A piece of code to copy. */
export interface Snippet {
  readonly title: string;
  readonly code: string;
}

const text = (value: string): string => JSON.stringify(value).replaceAll('</', '<\\/');
const shell = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** A name of an object literal; those of the words of layers have a dot. */
const property = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`);

/** Options that frameworks set themselves: widths in device pixels. */
const frameworkOptions = ['w', 'h', 'dpr'];

/**
 * The options that frameworks do not set, as properties of an object.
 * @param names the framework's names of some options
 */
function fixedOptions(
  { project, options }: PageImage,
  names: Readonly<Record<string, string>> = {},
): string {
  const fixed = Object.entries(options).filter(
    ([name, value]) => value !== '' && !frameworkOptions.includes(name),
  );
  return [['project', project], ...fixed]
    .map(([name = '', value = '']) => `${property(names[name] ?? name)}: ${text(value)}`)
    .join(', ');
}

const siteComment = `// The service fetches the app's own images from the site as it is published. While the app is
// developed they come from the app itself.`;

const next = (baseUrl: string, request: PageImage, { site }: ImageFacts): string => {
  const proportion = proportionOf(request.options);
  const height =
    proportion === 0 ? '' : `\n  query.set('h', String(Math.round(width * ${proportion})));`;
  return `// image-loader.js
'use client';

${siteComment}
const site = ${text(site)};

export default function loader({ src, width, quality }) {
  if (process.env.NODE_ENV === 'development' && /^\\/(?!\\/)/.test(src)) {
    return src + (src.includes('?') ? '&' : '?') + 'w=' + width;
  }
  const query = new URLSearchParams({ ${fixedOptions(request)} });
  query.set('w', String(width));${height}
  query.set('dpr', '1');
  if (quality) query.set('q', String(quality));
  return \`${baseUrl}/img/\${encodeURIComponent(new URL(src, site).href)}?\${query}\`;
}

// next.config.mjs
export default {
  images: { loader: 'custom', loaderFile: './image-loader.js' },
};`;
};

const nuxtNames = { q: 'quality', fmt: 'format', bg: 'background' } as const;

const nuxt = (baseUrl: string, request: PageImage, { site }: ImageFacts): string => {
  const proportion = proportionOf(request.options);
  const height =
    proportion === 0
      ? ''
      : `\n    const { width, height = width && Math.round(width * ${proportion}) } = given;`;
  const sized = height === '' ? '...given' : '...given, height';
  return `// app/providers/image-delivery.ts
import { createOperationsGenerator, defineProvider } from '@nuxt/image/runtime';

const operations = createOperationsGenerator();

${siteComment}
const site = ${text(site)};

export default defineProvider({
  getImage(src, { modifiers }) {
    if (import.meta.dev && /^\\/(?!\\/)/.test(src)) return { url: src };
    const given = Object.fromEntries(Object.entries(modifiers).filter(([, value]) => value !== undefined));${height}
    const query = operations({ ${fixedOptions(request, nuxtNames)}, ${sized}, dpr: 1 });
    return { url: \`${baseUrl}/img/\${encodeURIComponent(new URL(src, site).href)}?\${query}\` };
  },
});

// nuxt.config.ts
export default defineNuxtConfig({
  modules: ['@nuxt/image'],
  image: {
    provider: 'image-delivery',
    providers: { 'image-delivery': { provider: '~/providers/image-delivery.ts' } },
  },
});`;
};

const curl = (baseUrl: string, request: PageImage, accept: string): string =>
  `curl -s -D - -o picture -H ${shell(`accept: ${accept}`)} \\\n  ${shell(imageUrl(baseUrl, request))}`;

/** The image as code for programs and pages. */
export const snippets = (
  baseUrl: string,
  request: PageImage,
  accept: string,
  facts: ImageFacts,
): readonly Snippet[] => [
  { title: 'HTML', code: pictureCode(baseUrl, request, facts) },
  { title: 'Next.js', code: next(baseUrl, request, facts) },
  { title: 'Nuxt', code: nuxt(baseUrl, request, facts) },
  { title: 'curl', code: curl(baseUrl, request, accept) },
];
