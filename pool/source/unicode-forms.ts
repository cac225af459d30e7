/**
 * Looks for a name in each of its Unicode forms (UAX #15), because macOS and some upload tools write
 * é as two characters (NFD), and most other programs as one (NFC).
 *
 * @param find rejects, or resolves with null, for a name that does not exist
 * @param isMissing whether a rejection means that the name does not exist
 * @throws the first error if no form exists
 */
export async function findInAnyForm<T>(
  name: string,
  find: (form: string) => Promise<T>,
  isMissing: (error: unknown) => boolean,
): Promise<T> {
  const others = new Set([name.normalize('NFC'), name.normalize('NFD')]);
  others.delete(name);
  const orNull = (error: unknown): null => {
    if (isMissing(error)) return null;
    throw error;
  };
  const first = find(name);
  let found: T | null = await (others.size === 0 ? first : first.catch(orNull));
  for (const form of others) found ??= await find(form).catch(orNull);
  return found ?? first;
}
