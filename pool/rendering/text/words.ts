import { ServiceError } from '../../../contract/errors.ts';

/** Maximum characters as a reader counts them, grapheme clusters. */
export const maxCharacters = 500;

/** An emoji has up to 10 code points, a syllable of an Indic script about as many. */
const maxCharacterLength = 32;

/** English rules differ from those of other languages in no grapheme cluster. */
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The characters of a text: line separators become line feeds, other control characters are removed, and blanks
 * at its ends.
 *
 * @throws ServiceError parameter_invalid, for a text that is too long
 */
export function charactersOf(words: string): readonly string[] {
  const refuse = (reason: string) => {
    throw new ServiceError('parameter_invalid', `The text of a layer ${reason}.`);
  };
  // Before it is segmented; it only excludes texts that one of the limits refuses.
  if (words.length > maxCharacters * maxCharacterLength) refuse(tooLong);
  const clean = words
    .toWellFormed()
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replaceAll('\t', ' ')
    .replace(/[^\P{Cc}\n]/gu, '')
    .trim();
  const characters = Array.from(segmenter.segment(clean), ({ segment }) => segment);
  if (characters.length > maxCharacters) refuse(tooLong);
  if (characters.some((one) => one.length > maxCharacterLength)) {
    refuse(`has a character of more than ${maxCharacterLength} UTF-16 code units`);
  }
  return characters;
}

const tooLong = `has more than ${maxCharacters} characters`;

/** The blocks of scripts that are written from right to left: Hebrew to Arabic Extended-A, and further ones. */
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** True if the first letter is of a script that is written from right to left, as in HTML's `dir=auto`. */
export function isRightToLeft(words: string): boolean {
  return rightToLeft.test(/\p{L}/u.exec(words)?.[0] ?? '');
}
