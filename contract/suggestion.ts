import { distance } from 'fastest-levenshtein';

/** Shorter names are one edit away from too many others. */
const minLength = 4;
/** Longer than any known name, even after HTML escaping; longer names are not compared. */
const maxLength = 80;

/**
 * The known name that an unknown one probably stands for: it differs in case, by an HTML-escaped `&`
 * before it, or, from four letters on, by one edit. Undefined if no known name is
 * similar.
 */
export const nearestName = (name: string, known: readonly string[]): string | undefined =>
  closest(name.replace(/^(?:amp;)+/i, ''), known, ({ length }) => (length < minLength ? 0 : 1));

/**
 * Returns the most similar known name, for a hint that can be wrong: the names differ by at most an
 * edit per three letters. Returns undefined if no name is similar.
 */
export const similarName = (name: string, known: readonly string[]): string | undefined =>
  closest(name, known, ({ length }) => Math.floor(Math.max(name.length, length) / 3));

/**
 * Returns the variable that an unknown `SERVICE_...` variable probably stands for: it differs in
 * case or by few letters. Returns undefined if no variable is similar, as for Consul's
 * `SERVICE_NAME` or Kubernetes' `SERVICE_SERVICE_HOST`.
 */
export function nearestVariable(name: string, known: readonly string[]): string | undefined {
  const letters = (variable: string) =>
    variable.replace(/^SERVICE_/, '').replaceAll(/[^A-Za-z0-9]/g, '');
  const variables = new Map(known.map((variable) => [letters(variable), variable]));
  const nearest = closest(letters(name), [...variables.keys()], ({ length }) =>
    // Among names as short as PORT, two edits turn one word into another.
    length < 8 ? 1 : length < 12 ? 2 : 3,
  );
  return nearest && variables.get(nearest);
}

/** Returns the known name with the fewest edits, if they are few enough; ignores the case. */
function closest(
  name: string,
  known: readonly string[],
  maxEdits: (known: string) => number,
): string | undefined {
  if (name.length > maxLength) return undefined;
  const candidates = known.map((other) => ({
    other,
    edits: countEdits(name.toLowerCase(), other.toLowerCase()),
  }));
  const near = candidates.filter(({ other, edits }) => edits <= maxEdits(other));
  return near.sort((a, b) => a.edits - b.edits)[0]?.other;
}

/**
 * Returns how many letters are inserted, deleted or replaced between two texts. Two exchanged
 * neighbours, as the only difference, are one edit.
 */
function countEdits(text: string, other: string): number {
  const edits = distance(text, other);
  if (edits !== 2 || text.length !== other.length) return edits;
  let at = 0;
  while (text[at] === other[at]) at += 1;
  const exchanged = `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`;
  return exchanged === other ? 1 : edits;
}
