import { canonicalNames } from './generated/parameters.ts';
import { colourNames, maxSourceLength, rules } from './generated/rules.ts';
import type { Range, Rule } from './rule.ts';

/** Plain decimal notation. */
const decimal = /^-?\d{1,9}(?:\.\d{1,6})?$/;
const hexColour = /^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/;
/** A character that remains of a file name: no dot, blank, control character or mark of direction. */
const nameCharacter = /[^. \p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

const isIn = ({ minimum, maximum, whole }: Range, text: string): boolean => {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= maximum && !(whole && !Number.isInteger(value));
};

const isFlag = (text: string): boolean =>
  /^(?:true|false)?$/.test(text) || (decimal.test(text) && /^[01]$/.test(String(Number(text))));

function sourceError(text: string): string | null {
  const written = text.trim();
  if (written === '') return 'The source URL is missing.';
  if (written.length > maxSourceLength) {
    return `The source URL has more than ${maxSourceLength} characters.`;
  }
  try {
    const { username, password } = new URL(written);
    if (username !== '' || password !== '') {
      return 'The source URL must not hold a user name or password.';
    }
    if (/^https?:\/\/[^/]/i.test(written)) return null;
  } catch {
    // As for other schemes.
  }
  return 'The source must be an absolute http or https URL.';
}

const isOfKind: Readonly<Record<NonNullable<Rule['kind']>, (text: string) => boolean>> = {
  colour: (text) =>
    hexColour.test(text.toLowerCase()) || colourNames.split(' ').includes(text.toLowerCase()),
  fileName: (text) => nameCharacter.test(text.normalize('NFC')),
  url: (text) => text === text.trim() && sourceError(text) === null,
};

/** Whether the service accepts a text. */
function isAccepted(rule: Rule, text: string): boolean {
  const { flag, words, ranges, kind, pattern, maxLength } = rule;
  const lower = text.toLowerCase();
  if (flag && isFlag(lower)) return true;
  if (words?.includes(lower)) return true;
  const parts = text.split(/[,_]/);
  if (ranges?.length === parts.length)
    return ranges.every((range, at) => isIn(range, parts[at] ?? ''));
  if (flag || words || ranges) return false;
  if (maxLength !== undefined && (text === '' || [...text].length > maxLength)) return false;
  if (kind !== undefined) return isOfKind[kind](text);
  return pattern === undefined || new RegExp(pattern).test(text);
}

/**
 * Checks what becomes an image URL as the service would, in development only.
 *
 * @throws TypeError with the message of the service
 */
export function checkImage(
  source: string,
  project: string,
  texts: readonly (readonly [name: string, text: string])[],
): void {
  const error = imageError(source, project, texts);
  if (error !== null) throw new TypeError(error);
}

function imageError(
  source: string,
  project: string,
  texts: readonly (readonly [name: string, text: string])[],
): string | null {
  if (!project) return 'The project parameter is missing.';
  const known = new Set(['project']);
  for (const [spelling, text] of texts) {
    const name = canonicalNames[spelling] ?? spelling;
    if (known.has(name)) {
      const also = name === spelling ? '' : `, as ${spelling} too`;
      return `${name} is given more than once${also}.`;
    }
    known.add(name);
    const rule = rules[name];
    if (rule && !isAccepted(rule, text)) return `${spelling} must be ${rule.accepts}.`;
  }
  return sourceError(source);
}
