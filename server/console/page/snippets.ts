import { imageOptions, imageUrl, type PageImage, type ParameterTexts } from './image-url.ts';
import {
  formatsOf,
  type ImageFacts,
  layoutOf,
  pictureCode,
  positive,
  proportionOf,
} from './picture-code.ts';

/** A piece of code to copy. */
export interface Snippet {
  readonly title: string;
  readonly code: string;
}

/** A JSON value as code. */
const literal = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(literal).join(', ')}]`
    : JSON.stringify(value).replaceAll('</', '<\\/');
const shell = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** The fields of an object that have a value, as code. */
const fields = (values: object): readonly string[] =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${property(name)}: ${literal(value)}`);
/** A name of an object literal; those of the words of layers have a dot. */
const property = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`);
const object = (values: object): string =>
  fields(values).length === 0 ? '{}' : `{ ${fields(values).join(', ')} }`;
const lines = (indent: string, code: readonly string[]): string =>
  code.map((line) => `${indent}${line},\n`).join('');

/** The options that frameworks do not set themselves: no sizes. */
function fixedOptions(texts: ParameterTexts) {
  const { w, h, dpr, ...options } = imageOptions(texts);
  return options;
}

/** The options of `picture`, or null if it cannot have them. */
function pictureOptions(request: PageImage, facts: ImageFacts): object | null {
  const { widths, sizes } = layoutOf(request.options, facts);
  if (widths === null) return null;
  const { fmt, ...options } = fixedOptions(request.options);
  const { better, plain } = formatsOf(request.options, facts);
  const proportion = proportionOf(request.options);
  return {
    ...options,
    widths,
    sizes,
    ratio: proportion === 0 ? undefined : 1 / proportion,
    formats: better,
    fmt: plain === '' ? undefined : plain,
  };
}

const sdk = (baseUrl: string, request: PageImage, facts: ImageFacts): string => {
  const { source, project, options } = request;
  const picture = pictureOptions(request, facts);
  const ofPicture =
    picture === null
      ? ''
      : `

// The attributes of a <picture> for all screens.
const { sources, img } = images.picture(${literal(source)}, {
${lines('  ', fields(picture))}});`;
  return `import { createImageUrls } from '@image-delivery/sdk';

const images = createImageUrls({
${lines('  ', fields({ baseUrl, project }))}});

const url = images.url(${literal(source)}, ${object(imageOptions(options))});${ofPicture}`;
};

const siteComment = `// The service fetches the app's own images from the site as it is published. While the app is
// developed they come from the app itself.`;

/** The loader of the SDK, or one that keeps the proportion of the image. */
const next = (baseUrl: string, { project, options }: PageImage, { site }: ImageFacts): string => {
  const proportion = proportionOf(options);
  const settings = `${lines('  ', fields({ baseUrl, project, origin: site }))}  passthrough: (src) => process.env.NODE_ENV === 'development' && /^\\/(?!\\/)/.test(src),
`;
  const fixed = fixedOptions(options);
  const loader =
    proportion === 0
      ? `import { createLoader } from '@image-delivery/sdk/next';

${siteComment}
export default createLoader({
${settings}  options: ${object(fixed)},
});`
      : `import { createImageUrls } from '@image-delivery/sdk';

${siteComment}
const images = createImageUrls({
${settings}});

export default function loader({ src, width, quality = ${literal(fixed.q ?? null)} }) {
  const h = Math.round(width * ${proportion});
  const url = images.url(src, { ...${object(fixed)}, q: quality, w: width, h, dpr: 1, enlarge: true });
  return url === src ? src + '#w=' + width : url;
}`;
  return `// image-loader.js
'use client';

${loader}

// next.config.mjs
import { imageConfig } from '@image-delivery/sdk/next';

export default {
  images: imageConfig('./image-loader.js'),
};`;
};

const nuxt = (baseUrl: string, { project, options }: PageImage, { site }: ImageFacts): string => {
  const { q, fmt, ...others } = fixedOptions(options);
  const modifiers = { quality: q, format: fmt, ...others };
  const sides = [
    ['width', positive(options, 'w')],
    ['height', positive(options, 'h')],
  ] as const;
  const size = sides.map(([name, pixels]) => (pixels === 0 ? '' : ` ${name}="${pixels}"`));
  return `// nuxt.config.ts
${siteComment}
export default defineNuxtConfig({
  modules: ['@nuxt/image'],
  image: {
    provider: process.env.NODE_ENV === 'development' ? 'none' : 'imageDelivery',
    providers: {
      imageDelivery: {
        provider: '@image-delivery/sdk/nuxt',
        options: {
${lines('          ', [...fields({ baseUrl, project, origin: site }), `modifiers: ${object(modifiers)}`])}        },
      },
    },
  },
});

// In a component:
// <NuxtImg src="/photo.jpg"${size.join('')} alt="" />`;
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
  { title: 'SDK', code: sdk(baseUrl, request, facts) },
  { title: 'Next.js', code: next(baseUrl, request, facts) },
  { title: 'Nuxt', code: nuxt(baseUrl, request, facts) },
  { title: 'curl', code: curl(baseUrl, request, accept) },
];
