import { imageUrl, type Options, type Wanted } from './image-url.ts';

/** A piece of code to copy. */
export interface Snippet {
  readonly title: string;
  readonly code: string;
}

const html = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const text = (value: string): string => JSON.stringify(value).replaceAll('</', '<\\/');
const shell = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** The widths of a srcset for an image that is shown this wide: also smaller, and for dense screens. */
export const srcsetWidths = (width: number): readonly number[] =>
  [0.5, 1, 2].map((factor) => Math.min(10_000, Math.max(1, Math.round(width * factor))));

/** The options with another width; the height follows in proportion. */
function atWidth(options: Options, width: number, shown: number): Options {
  const height = Number(options['h'] ?? '');
  return {
    ...options,
    w: String(width),
    ...(height > 0 ? { h: String(Math.max(1, Math.round((height * width) / shown))) } : {}),
  };
}

function picture(baseUrl: string, wanted: Wanted): string {
  const shown = Number(wanted.options['w'] ?? '') || 800;
  const url = (options: Options) => html(imageUrl(baseUrl, { ...wanted, options }));
  const srcset = (more: Options) =>
    [...new Set(srcsetWidths(shown))]
      .map((width) => `${url({ ...atWidth(wanted.options, width, shown), ...more })} ${width}w`)
      .join(',\n    ');
  const sizes = `sizes="(max-width: ${shown}px) 100vw, ${shown}px"`;
  const format = wanted.options['fmt'] ?? '';
  const sources =
    format !== '' && format !== 'auto'
      ? []
      : ['avif', 'webp'].map(
          (fmt) => `  <source type="image/${fmt}" ${sizes} srcset="\n    ${srcset({ fmt })}">`,
        );
  const image = `  <img src="${url(atWidth(wanted.options, shown, shown))}" ${sizes} srcset="\n    ${srcset({})}"\n    alt="" loading="lazy" decoding="async">`;
  return ['<picture>', ...sources, image, '</picture>'].join('\n');
}

/**
 * The options that a framework does not set by itself, as the properties of an object.
 *
 * @param names others that the framework has for some of them, so that its own values replace these
 */
function fixed(
  { project, options }: Wanted,
  own: readonly string[],
  names: Readonly<Record<string, string>> = {},
): string {
  const kept = Object.entries(options).filter(
    ([name, value]) => value !== '' && !own.includes(name),
  );
  return [['project', project], ...kept]
    .map(([name = '', value = '']) => `${names[name] ?? name}: ${text(value)}`)
    .join(', ');
}

const next = (baseUrl: string, wanted: Wanted): string => `// image-loader.js
'use client';

export default function loader({ src, width, quality }) {
  const query = new URLSearchParams({ ${fixed(wanted, ['w', 'h', 'q'])} });
  query.set('w', String(width));
  if (quality) query.set('q', String(quality));
  return \`${baseUrl}/img/\${encodeURIComponent(src)}?\${query}\`;
}

// next.config.js
export default {
  images: { loader: 'custom', loaderFile: './image-loader.js' },
};`;

const nuxtNames = { q: 'quality', fmt: 'format', bg: 'background' } as const;

const nuxt = (baseUrl: string, wanted: Wanted): string => `// providers/image-delivery.ts
import { createOperationsGenerator, defineProvider } from '@nuxt/image/runtime';

const operations = createOperationsGenerator();

export default defineProvider({
  getImage(src, { modifiers }) {
    const query = operations({ ${fixed(wanted, ['w', 'h'], nuxtNames)}, ...modifiers });
    return { url: \`${baseUrl}/img/\${encodeURIComponent(src)}?\${query}\` };
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

const curl = (baseUrl: string, wanted: Wanted, accept: string): string =>
  `curl -s -D - -o picture -H ${shell(`accept: ${accept}`)} \\\n  ${shell(imageUrl(baseUrl, wanted))}`;

/** The image in the forms in which programs and pages ask for it. */
export const snippets = (baseUrl: string, wanted: Wanted, accept: string): readonly Snippet[] => [
  { title: 'HTML', code: picture(baseUrl, wanted) },
  { title: 'Next.js', code: next(baseUrl, wanted) },
  { title: 'Nuxt', code: nuxt(baseUrl, wanted) },
  { title: 'curl', code: curl(baseUrl, wanted, accept) },
];
