import { imageOptions, imageUrl, type PageImage, type ParameterTexts } from '../api/image-url.ts';
import { type ApiDescription, pickEffects } from '../api/openapi.ts';
import {
  computeLayout,
  computeProportion,
  fixedOptions,
  type PictureFacts,
  pictureCode,
  pictureOptions,
  toSides,
  withBothSides,
} from './picture-code.ts';

/** A piece of code to copy. */
export interface Snippet {
  readonly title: string;
  /** Null while required facts are unknown. */
  readonly code: string | null;
  /** Whether the snippet signs its URLs. */
  readonly signs?: true;
}

/** Returns a JSON value as code. */
const literal = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(literal).join(', ')}]`
    : JSON.stringify(value).replaceAll('</', '<\\/');
const shell = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** Returns the set fields of an object, as code. */
const fields = (values: object): readonly string[] =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${property(name)}: ${literal(value)}`);
/** Returns a property name of an object literal. Names of layer texts contain a dot. */
const property = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`);
const object = (values: object): string =>
  fields(values).length === 0 ? '{}' : `{ ${fields(values).join(', ')} }`;
const lines = (indent: string, code: readonly string[]): string =>
  code.map((line) => `${indent}${line},\n`).join('');

/**
 * Returns the shared code of both SDK snippets, which uses `images`.
 * @param facts null for a text or a failed image
 */
function usage(request: PageImage, facts: PictureFacts | null): string {
  const { source, options } = request;
  const url = `const url = images.url(${literal(source)}, ${object(imageOptions(options))});`;
  if (facts === null) return url;
  const picture = pictureOptions(options, facts);
  const { width, height } = computeLayout(options, facts);
  if (picture === null) {
    return `${url}\n// The size of its box, to prevent layout shifts.\nconst size = { width: ${width}, height: ${height} };`;
  }
  return `${url}

// The attributes of a <picture> for all screens, whose img has this size in the layout.
const picture = images.picture(${literal(source)}, {
${lines('  ', fields(picture))}});
const { sources } = picture;
const img = { ...picture.img, width: ${width}, height: ${height} };`;
}

const sdk = (baseUrl: string, request: PageImage, facts: PictureFacts | null): string =>
  `import { createImageUrls } from '@image-delivery/sdk';

const images = createImageUrls({
${lines('  ', fields({ baseUrl, project: request.project }))}});

${usage(request, facts)}`;

const signed = (baseUrl: string, request: PageImage, facts: PictureFacts | null): string =>
  `// Use this only on a server: anyone with the secret can sign.
import { createImageUrls } from '@image-delivery/sdk';
import { createSigner } from '@image-delivery/sdk/sign';

const settings = {
${lines('  ', fields({ baseUrl, project: request.project }))}};
const secret = process.env.IMAGES_SECRET;
const sign = createSigner({ ...settings, secret, validFor: 3600 });
const images = createImageUrls({ ...settings, sign });

${usage(request, facts)}`;

const siteComment = `// The service fetches the app's own images from the published site. During development, the app
// serves them itself.`;

const next = (baseUrl: string, request: PageImage, facts: PictureFacts): string => {
  const { source, project, options } = request;
  const { site } = facts;
  const ar = computeProportion(options) === 0 ? undefined : `${options['w']}:${options['h']}`;
  return `// image-loader.js
'use client';

import { createLoader } from '@image-delivery/sdk/next';

${siteComment}
export default createLoader({
${lines('  ', fields({ baseUrl, project, origin: site }))}  passthrough: (src) => process.env.NODE_ENV === 'development' && /^\\/(?!\\/)/.test(src),
  options: ${object({ ...fixedOptions(options), ar })},
});

// next.config.mjs
import { imageConfig } from '@image-delivery/sdk/next';

export default {
  images: imageConfig('./image-loader.js'),
};

// In a component:
// <Image src=${attribute(sourceOn(site, source))} ${toBox(options, facts)} alt="" />`;
};

const attribute = (text: string): string => `"${text.replaceAll('"', '%22')}"`;

/** Returns a source on the site as a path, as frameworks name it. */
const sourceOn = (site: string, source: string): string =>
  source.startsWith(`${site}/`) ? source.slice(site.length) : source;

/** Returns the attributes of the layout box. */
function toBox(options: ParameterTexts, facts: PictureFacts): string {
  const { width, height } = computeLayout(options, facts);
  return `width="${width}" height="${height}"`;
}

const nuxt = (baseUrl: string, request: PageImage, facts: PictureFacts): string => {
  const { project, options } = request;
  const { site } = facts;
  const { q, fmt, ...others } = fixedOptions(options);
  const modifiers = { quality: q, format: fmt, ...others };
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
// <NuxtImg src=${attribute(sourceOn(site, request.source))} ${toBox(options, facts)} alt="" />`;
};

/** Astro's component names for parameters. */
const ofAstro: Readonly<Record<string, string>> = {
  q: 'quality',
  fmt: 'format',
  fit: 'fit',
  pos: 'position',
  bg: 'background',
};

/** Astro's components name only some parameters. */
const astro = (baseUrl: string, request: PageImage, facts: PictureFacts): string => {
  const { source, project, options } = request;
  const entries = Object.entries(fixedOptions(options));
  const attributes = entries.flatMap(([name, value]) => {
    const own = ofAstro[name];
    return own === undefined || value === 'auto' ? [] : ` ${own}=${attribute(String(value))}`;
  });
  const others = entries.map(([name]) => name).filter((name) => !Object.hasOwn(ofAstro, name));
  const missing =
    others.length === 0
      ? ''
      : `\n// The component does not support ${others.join(', ')}; the SDK's code does.`;
  return `// astro.config.mjs
import { imageDelivery } from '@image-delivery/sdk/astro';
import { defineConfig } from 'astro/config';

export default defineConfig({
  site: ${literal(facts.site)},
  integrations: [
    imageDelivery({
${lines('      ', fields({ baseUrl, project }))}    }),
  ],
});

// In a page, with import { Image } from 'astro:assets':${missing}
// <Image src=${attribute(source)} ${toBox(options, facts)} layout="constrained"${attributes.join('')} alt="" />`;
};

/** unpic's component names for parameters. */
const unpic = (baseUrl: string, request: PageImage, facts: PictureFacts): string => {
  const { source, project, options } = request;
  const { q: quality, fmt: format, ...others } = fixedOptions(options);
  const { width, height } = computeLayout(options, facts);
  // The component requests heights in proportion to this box, whose rounded sides set the ratio.
  const ratio = width / height;
  const sides = { ...toSides(options, facts), ratio, enlarge: others.enlarge };
  return `import { breakpoints, transform } from '@image-delivery/sdk/unpic';
import { Image } from '@unpic/react/base';

const options = {
${lines('  ', fields({ baseUrl, project }))}};

export const Picture = () => (
  <Image
    src=${attribute(source)}
    alt=""
    layout="constrained"
    width={${width}}
    height={${height}}
    transformer={transform}
    options={options}
    operations={${object({ quality, format, ...others })}}
    breakpoints={breakpoints(${object(sides)})}
  />
);`;
};

const curl = (baseUrl: string, request: PageImage, accept: string): string =>
  `curl -s -D - -o image -H ${shell(`accept: ${accept}`)} \\\n  ${shell(imageUrl(baseUrl, request))}`;

/** The facts available about the playground's image. */
export type Known =
  /** A text or a failed image: only its URL is usable. */
  'nothing' | 'loading' | PictureFacts;

/** Returns code for the image in programs and pages. */
export function snippets(
  baseUrl: string,
  image: PageImage,
  accept: string,
  known: Known,
): readonly Snippet[] {
  const request = { ...image, options: withBothSides(image.options) };
  const facts = typeof known === 'object' ? known : null;
  const withUrl = (
    write: (base: string, image: PageImage, facts: PictureFacts | null) => string,
  ) => (known === 'loading' ? null : write(baseUrl, request, facts));
  const withFacts = (write: (base: string, image: PageImage, facts: PictureFacts) => string) =>
    facts === null ? null : write(baseUrl, request, facts);
  return [
    { title: 'HTML', code: withFacts(pictureCode) },
    { title: 'SDK', code: withUrl(sdk) },
    { title: 'Signed', code: withUrl(signed), signs: true },
    { title: 'Next.js', code: withFacts(next) },
    { title: 'Nuxt', code: withFacts(nuxt) },
    { title: 'Astro', code: withFacts(astro) },
    { title: 'unpic', code: withFacts(unpic) },
    { title: 'curl', code: curl(baseUrl, image, accept) },
  ];
}

/** Returns the parameters for requesting facts about the source area that remains. */
export const factsOptions = (
  options: ParameterTexts,
  description: Pick<ApiDescription, 'parameters'>,
): ParameterTexts => ({
  ...pickEffects(options, description, 'source', 'page', 'area', 'trim', 'turn'),
  fmt: 'json',
});
