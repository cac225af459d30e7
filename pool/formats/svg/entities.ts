import { tooLarge, unsupported } from '../errors.ts';

/** Illustrator declares 20 or fewer, the longest with some 60 characters. */
const max = { entities: 64, length: 2_000, addedLength: 1_000_000 };

/**
 * Matches white space, a comment, a declaration that does not affect the drawing, or a literal text
 * with its name.
 */
const declaration =
  /\s+|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!(?:ELEMENT|ATTLIST)\s[^"'<>]*>|<!ENTITY\s+([\w.:-]{1,100})\s+("[^"]*"|'[^']*')\s*>/y;

/**
 * Texts that use only XML's own entities, and no character references to `&` and `<`, which start
 * entities.
 */
const literal =
  /^(?:[^&%]|&(?:amp|lt|gt|quot|apos);|&#(?!0*(?:38|60);|x0*(?:26|3c);)(?:\d+|x[\da-f]+);)*$/i;

/**
 * Replaces entities declared in a document's internal subset, and removes the document type.
 * Entities are literal texts, bounded in number and length, such as Illustrator's namespaces.
 *
 * @param text from the document type on
 * @throws ServiceError source_unsupported, source_too_large
 */
export function withoutDocumentType(text: string): string {
  const open = /^<!DOCTYPE(?:"[^"]*"|'[^']*'|[^"'[>])*[[>]/.exec(text)?.[0] ?? '';
  if (!open.endsWith('[')) return text.slice(open.length);
  const entities = new Map<string, string>();
  declaration.lastIndex = open.length;
  let end = open.length;
  for (let found = declaration.exec(text); found !== null; found = declaration.exec(text)) {
    const [all, name, quoted = ''] = found;
    if (name !== undefined) {
      const value = quoted.slice(1, -1);
      if (value.length > max.length || !literal.test(value) || entities.size === max.entities) {
        throw unsupportedDeclaration(all);
      }
      if (!entities.has(name)) entities.set(name, value);
    }
    end = declaration.lastIndex;
  }
  const close = /^\]\s*>/.exec(text.slice(end, end + 100));
  if (close === null) throw unsupportedDeclaration(text.slice(end, end + 300));
  return replaced(text.slice(end + close[0].length), entities);
}

/** Matches sections that cannot contain entities, even if incomplete, and entity references. */
const uses =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|&([\w.:-]{1,100});/g;

function replaced(text: string, entities: ReadonlyMap<string, string>): string {
  let added = 0;
  return text.replace(uses, (use, name: string | undefined) => {
    const value = name === undefined ? undefined : entities.get(name);
    if (value === undefined) return use;
    added += value.length;
    if (added > max.addedLength) throw tooLarge('The XML entities of the SVG are used too often.');
    return value;
  });
}

function unsupportedDeclaration(text: string) {
  const [, name] = /^<!ENTITY\s+(?:%\s+)?([\w.:-]{1,40})\s/.exec(text) ?? [];
  return unsupported(
    name === undefined
      ? 'The SVG has declarations in its document type, which are not supported.'
      : `The SVG declares the XML entity ${name} in its document type. Only ${max.entities} entities are supported, with up to ${max.length} characters of literal text: save the SVG with their values in their places.`,
  );
}
