import { ServiceError } from '../../../contract/errors.ts';
import type { CharacterMap } from './character-map.ts';

/** Maximum characters as a reader counts them, grapheme clusters. */
export const maxCharacters = 500;

/** An emoji has up to 10 code points, a syllable of an Indic script about as many. */
const maxCharacterLength = 32;

/** Grapheme clusters do not depend on the language. */
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Splits a text into characters: line separators become line feeds; other control characters, and
 * blanks at both ends, are removed.
 *
 * @throws ServiceError parameter_invalid for a text that is too long
 */
export function splitCharacters(words: string): readonly string[] {
  const refuse = (reason: string) => {
    throw new ServiceError('parameter_invalid', `The text of a layer ${reason}.`);
  };
  // Checks before segmenting; refuses only texts that one of the limits refuses anyway.
  if (words.length > maxCharacters * maxCharacterLength) refuse(tooLong);
  const clean = words
    .toWellFormed()
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replaceAll('\t', ' ')
    .replace(/[^\P{Cc}\n]/gu, '')
    .trim();
  const characters = Array.from(segmenter.segment(clean), ({ segment }) => segment);
  if (characters.length > maxCharacters) refuse(tooLong);
  if (characters.some((character) => character.length > maxCharacterLength)) {
    refuse(`has a character of more than ${maxCharacterLength} UTF-16 code units`);
  }
  return characters;
}

const tooLong = `has more than ${maxCharacters} characters`;

/** Characters that leave no ink, at least not by themselves. */
const inkless = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}]$/u;

/**
 * Returns the characters that all fonts lack, each once. They are drawn as boxes. An accented letter
 * can be composed from its parts' glyphs.
 *
 * @throws ServiceError parameter_invalid for a text that is too long
 */
export function missingCharacters(
  words: string,
  fonts: readonly CharacterMap[],
): readonly string[] {
  const isDrawable = (character: string) =>
    inkless.test(character) || fonts.some((has) => has(character.codePointAt(0) ?? 0));
  return [...new Set(splitCharacters(words).join('').normalize('NFC'))].filter(
    (character) => !isDrawable(character) && ![...character.normalize('NFD')].every(isDrawable),
  );
}

/** Blocks of right-to-left scripts: Hebrew to Arabic Extended-A, and others. */
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Returns whether the first letter belongs to a right-to-left script, like HTML's `dir=auto`. */
export function isRightToLeft(words: string): boolean {
  return rightToLeft.test(/\p{L}/u.exec(words)?.[0] ?? '');
}
