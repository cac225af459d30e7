import { baseUrlError, projectError } from './base-url.ts';
import type { SrcsetOptions } from './candidates.ts';
import { canonicalNames, maxWords } from './generated/parameters.ts';
import { colourNames, maxSourceLength, type Range, type Rule, rules } from './generated/rules.ts';
import type { ImageUrls, ImageUrlsOptions } from './interface.ts';
import { similarName } from './similar.ts';
import { canonicalName, type Texts } from './url-text.ts';

/** Plain decimal notation. */
const decimal = /^-?\d{1,9}(?:\.\d{1,20})?$/;
const hexColour = /^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/;
/** A character that the service keeps in a file name: no dot, blank, control or bidirectional character. */
const nameCharacter = /[^. \p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

const isIn = ({ minimum, maximum, whole }: Range, text: string): boolean => {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= maximum && !(whole && !Number.isInteger(value));
};

const isFlag = (text: string): boolean => /^(?:true|false|1|0)?$/.test(text);
/** If a flag also allows numbers, `1.0` is the flag `1`. */
const asFlag = (text: string): string => (decimal.test(text) ? String(Number(text)) : text);

function sourceError(text: string): string | null {
  const written = text.trim();
  if (text === '') return 'The source URL is missing.';
  if (written.length > maxSourceLength) {
    return `The source URL has more than ${maxSourceLength} characters.`;
  }
  if (/^\/(?![\t\n\r]*[/\\])/.test(written)) return null;
  try {
    const { username, password } = new URL(written);
    if (username !== '' || password !== '') {
      return 'The source URL must not contain a user name or password.';
    }
    if (/^https?:\/\/[^/]/i.test(written)) return null;
  } catch {
    // The same error as for other schemes.
  }
  return 'The source must be an absolute http or https URL.';
}

const isOfKind: Readonly<Record<NonNullable<Rule['kind']>, (text: string) => boolean>> = {
  colour: (text) =>
    hexColour.test(text.toLowerCase()) || colourNames.split(' ').includes(text.toLowerCase()),
  fileName: (text) => nameCharacter.test(text.normalize('NFC')),
  url: (text) => /^h/i.test(text) && text === text.trim() && sourceError(text) === null,
};

/** Whether the service accepts a text. */
function isAccepted(rule: Rule, text: string): boolean {
  const { anyOf, flag, words, ranges, times = 1, kind, pattern, maxLength } = rule;
  if (anyOf) return anyOf.some((alternative) => isAccepted(alternative, text));
  const lower = text.toLowerCase();
  if (flag && isFlag(ranges ? asFlag(lower) : lower)) return true;
  if (words?.includes(lower)) return true;
  const parts = text.split(/[,_]/);
  const lists = parts.length / (ranges?.length ?? 1);
  const isInRange = (part: string, at: number) => {
    const range = ranges?.[at % ranges.length];
    return range !== undefined && isIn(range, part);
  };
  if (lists <= times && Number.isInteger(lists) && parts.every(isInRange)) return true;
  const hasPattern = pattern !== undefined && new RegExp(pattern).test(text);
  if (flag || words || ranges) return hasPattern;
  if (maxLength !== undefined && (text === '' || [...text].length > maxLength)) return false;
  if (kind !== undefined) return isOfKind[kind](text);
  return pattern === undefined || hasPattern;
}

function optionError(texts: Texts): string | null {
  const known = new Set();
  for (const [spelling, text] of texts) {
    const name = canonicalName(spelling);
    if (known.has(name)) return `${name} is given more than once, including as ${spelling}.`;
    known.add(name);
    if (name.startsWith('text.') && [...text].length > maxWords) {
      return `${name} must have at most ${maxWords} characters.`;
    }
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule && !isAccepted(rule, text)) return `${spelling} must be ${rule.accepts}.`;
  }
  return null;
}

/**
 * Checks the parts of an image URL as the service does; called in development only.
 *
 * @throws TypeError with the message of the service
 */
export function checkImage(source: string, project: string, texts: Texts): void {
  const missing = project === '' ? 'The project parameter is missing.' : null;
  const repeated = texts.some(([name]) => name === 'project')
    ? 'project is given more than once.'
    : null;
  const error = repeated ?? sourceError(source) ?? missing ?? optionError(texts);
  if (error !== null) throw new TypeError(error);
}

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
  Object.hasOwn(rules, canonicalName(name)) || /^(?:text\.|overlay[2-4]?(?:\.|$))/.test(name);

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
  return `origin must be an absolute http or https URL, such as https://shop.example.com, but is ${String(origin).slice(0, 100)}.`;
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
    ? 'an object. Pass the src of an imported image, or the href of a URL.'
    : `${String(src)}. Pass an image URL.`;
  throw mistake(`src must be a string, got ${hint}`);
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
    throw mistake(`${name} must be a number above 0${example}, but is ${String(value)}.`);
  }
  const { widths } = options;
  if (!widths || (widths.length > 0 && widths.every(isPositive))) return;
  throw mistake('widths must be a non-empty array of positive numbers.');
}

function checkSigned(url: string, signed: unknown): string {
  if (typeof signed !== 'string') {
    throw mistake(
      'sign must return a string: with createAsyncSigner, sign the finished picture, as in await sign(picture).',
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
