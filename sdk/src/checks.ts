import { maxWords } from './generated/parameters.ts';
import { colourNames, maxSourceLength, rules } from './generated/rules.ts';
import { canonicalName } from './read.ts';
import type { Range, Rule } from './rule.ts';
import type { Texts } from './write.ts';

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
  const { flag, words, ranges, kind, pattern, maxLength } = rule;
  const lower = text.toLowerCase();
  if (flag && isFlag(ranges ? asFlag(lower) : lower)) return true;
  if (words?.includes(lower)) return true;
  const parts = text.split(/[,_]/);
  const isInRanges = ranges?.every((range, at) => isIn(range, parts[at] ?? ''));
  if (isInRanges && ranges?.length === parts.length) return true;
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
      return `${name} must be a text of at most ${maxWords} characters.`;
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
