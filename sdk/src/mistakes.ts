import { baseUrlError, projectError } from './base-url.ts';
import type { SrcsetOptions } from './candidates.ts';
import { checkImage } from './checks.ts';
import { canonicalNames } from './generated/parameters.ts';
import { rules } from './generated/rules.ts';
import type { ImageUrls, ImageUrlsOptions } from './interface.ts';
import { canonicalName } from './read.ts';
import { similarName } from './similar.ts';
import type { Texts } from './write.ts';

const mistake = (sentence: string) => new TypeError(sentence);

const settingNames = ['baseUrl', 'project', 'origin', 'maxWidth', 'sign', 'passthrough'] as const;
const optionNames = [...Object.keys(rules), ...Object.keys(canonicalNames)];
/** The options of a srcset that an image does not have. */
const srcsetNames = ['widths', 'fixed', 'ratio', 'sourceWidth', 'sourceHeight'];
const pictureNames = ['formats', 'sizes', 'sourceFrames'];
/** Image options that a srcset does not accept, and their replacements. */
const replacements: Readonly<Record<string, string>> = {
  w: 'widths, or fixed for an image of one size',
  h: 'ratio',
  ar: 'ratio',
  dpr: 'fixed, which has all densities',
};

const isOption = (name: string): boolean =>
  Object.hasOwn(rules, canonicalName(name)) || /^text\./.test(name);

function unknownOption(name: string): string {
  if (name === 'ratio') return 'ratio is an option of srcset and picture only: write ar here.';
  if (srcsetNames.includes(name)) return `${name} is an option of srcset and picture only.`;
  if (pictureNames.includes(name)) return `${name} is an option of picture only.`;
  const similar = similarName(name, [...optionNames, ...srcsetNames, ...pictureNames]);
  const hint = similar === undefined ? '' : ` Did you mean ${canonicalName(similar)}?`;
  return `${name.slice(0, 40)} is not an option.${hint}`;
}

/** A relative source needs an origin. */
function relativeSource(src: string, origin: string | undefined): string | null {
  if (src === '' || /^[a-z][\w+.-]*:/i.test(src)) return null;
  if (origin === undefined) {
    return `The source must be an absolute http or https URL or start with a slash, or createImageUrls needs an origin, such as https://shop.example.com: ${src.slice(0, 100)} is relative.`;
  }
  return `origin must be an absolute http or https URL, such as https://shop.example.com, and is ${String(origin).slice(0, 100)}.`;
}

const isPositive = (value: unknown): boolean =>
  typeof value === 'number' && value > 0 && Number.isFinite(value);

/** @throws TypeError */
export function checkSettings(settings: ImageUrlsOptions): void {
  const { baseUrl, project } = settings;
  const error = baseUrlError(baseUrl) ?? projectError(project);
  if (error === null) return;
  const others = Object.keys(settings).filter(
    (name) => !settingNames.some((known) => known === name),
  );
  const missing = [baseUrl ? [] : 'baseUrl', project ? [] : 'project'].flat();
  const misspelt = others.find((name) => similarName(name, missing) !== undefined);
  if (misspelt === undefined) throw mistake(error);
  throw mistake(`${misspelt} is not an option. Did you mean ${similarName(misspelt, missing)}?`);
}

function checkSource(src: unknown): void {
  // With an origin, the empty URL would resolve to the site's address.
  if (src === '') throw mistake('The source URL is missing.');
  if (typeof src === 'string') return;
  const isObject = typeof src === 'object' && src !== null;
  const hint = isObject
    ? 'an object: give the src of an imported image, or the href of a URL.'
    : `${String(src)}: give the URL of a picture.`;
  throw mistake(`The source must be a text, and is ${hint}`);
}

function checkSrcset(options: SrcsetOptions, isPicture: boolean): void {
  for (const [name, given] of Object.entries(options)) {
    if (given === undefined || given === null) continue;
    const instead = replacements[canonicalName(name)];
    if (instead !== undefined) {
      throw mistake(`${name} is not an option of srcset and picture: write ${instead}.`);
    }
    if (pictureNames.includes(name) && !isPicture) throw mistake(unknownOption(name));
  }
  for (const name of ['fixed', 'ratio', 'sourceWidth', 'sourceHeight'] as const) {
    const value = options[name] ?? 1;
    if (isPositive(value)) continue;
    const example = name === 'ratio' ? ', such as 16 / 9' : '';
    throw mistake(`${name} must be a number above 0${example}, and is ${String(value)}.`);
  }
  const { widths } = options;
  if (!widths || (widths.length > 0 && widths.every(isPositive))) return;
  throw mistake('widths must be a list of numbers above 0, which is not empty.');
}

function checkSigned(url: string, signed: unknown): string {
  if (typeof signed !== 'string') {
    throw mistake(
      'sign must return a text: give the signer of createAsyncSigner the finished picture, as in await sign(picture).',
    );
  }
  if (signed !== url) return signed;
  throw mistake(
    'sign has not signed the URL: its baseUrl and project must be those of createImageUrls.',
  );
}

/** Checks the parts of a URL. @param source the absolute source, or null */
export type CheckParts = (src: string, source: string | null, texts: Texts) => void;

type Create = (settings: ImageUrlsOptions, check: CheckParts) => ImageUrls;

/** For programs in development: throws a TypeError with one sentence that says what to write. */
export const createChecked =
  (create: Create) =>
  (settings: ImageUrlsOptions): ImageUrls => {
    checkSettings(settings);
    const { project, origin, sign } = settings;
    const signing = sign && ((url: string) => checkSigned(url, sign(url)));
    const urls = create({ ...settings, sign: signing }, (src, source, texts) => {
      const relative = source === null ? relativeSource(src, origin) : null;
      if (relative !== null) throw mistake(relative);
      const unknown = texts.find(([name]) => name !== 'project' && !isOption(name));
      if (unknown !== undefined) throw mistake(unknownOption(unknown[0]));
      checkImage(source ?? src, project, texts);
    });
    return {
      ...urls,
      url(src, options) {
        checkSource(src);
        return urls.url(src, options);
      },
      srcset(src, options = {}) {
        checkSource(src);
        checkSrcset(options, false);
        return urls.srcset(src, options);
      },
      picture(src, options = {}) {
        checkSource(src);
        checkSrcset(options, true);
        return urls.picture(src, options);
      },
      async placeholder(src, ...more) {
        checkSource(src);
        return urls.placeholder(src, ...more);
      },
      async facts(src, ...more) {
        checkSource(src);
        return urls.facts(src, ...more);
      },
    };
  };
