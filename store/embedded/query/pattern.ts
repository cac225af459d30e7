import { BSONRegExp } from 'bson';
import { CommandError, notSupported } from '../errors.ts';

/** Characters that mean something other than themselves somewhere in a PCRE pattern. */
const SPECIAL = new Set('.*+?()[]{}|^$\\');

/**
 * Compiles a `$regex`. Only literal text with an optional leading `^` is done: there PCRE and
 * JavaScript cannot disagree, and the search is linear however hostile the pattern is.
 *
 * @param options `i` for case-insensitive, or empty
 * @throws {CommandError} 115 for any other pattern or option
 */
export function compilePattern(source: string, options: string): RegExp {
  if (options !== '' && options !== 'i') throw notSupported(`the $regex option '${options}'`);
  let literal = '';
  const anchored = source.startsWith('^');
  for (let i = anchored ? 1 : 0; i < source.length; i += 1) {
    let character = source[i] ?? '';
    if (character === '\\') {
      i += 1;
      character = source[i] ?? '';
      // A backslash before a letter or digit is a class, an anchor or a back-reference.
      if (character === '' || /[\p{L}\p{N}_]/u.test(character)) throw unsupported(source);
    } else if (SPECIAL.has(character)) {
      throw unsupported(source);
    }
    literal +=
      SPECIAL.has(character) || character === '/' || character === '-'
        ? `\\x${hex(character)}`
        : character;
  }
  return new RegExp(`${anchored ? '^' : ''}${literal}`, options === 'i' ? 'iu' : 'u');
}

/** The operand of `$regex`: text or a regular expression, with `$options` beside it. */
export function compileOperand(operand: unknown, options: unknown): RegExp {
  if (operand instanceof BSONRegExp) {
    if (options === undefined) return compilePattern(operand.pattern, operand.options);
    if (operand.options !== '')
      throw new CommandError(2, 'options set in both $regex and $options');
    if (typeof options === 'string') return compilePattern(operand.pattern, options);
  } else if (
    typeof operand === 'string' &&
    (options === undefined || typeof options === 'string')
  ) {
    return compilePattern(operand, options ?? '');
  }
  throw new CommandError(2, '$regex and $options have to be strings');
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0');
}

function unsupported(source: string): CommandError {
  return notSupported(`the $regex '${source}' (only literal text, optionally after ^)`);
}
