/** Characters of all style sheets and `style` attributes of a document. */
export const maxStyleText = 1_000_000;

/**
 * Matches values that load, run or escape; references within the document are replaced beforehand.
 */
const unsafe =
  /\\|<|&|@import|@charset|@namespace|@font-face|expression\s*\(|(?:java|vb)script:|behavior\s*:|-moz-binding|(?:url|src|image|image-set|cross-fade|element|paint|attr|url-prefix|domain|document)\s*\(|@property/i;

const comments = /\/\*[\s\S]*?(?:\*\/|$)/g;
const references = /url\(\s*(?:"#[^"'()\\]*"|'#[^"'()\\]*'|#[^"'()\\\s]*)\s*\)/gi;
/**
 * Matches resources, which become `none`, as if they had failed to load. No two parts match the
 * same spaces, because the time would grow quadratically.
 */
const resources = /url\((?!\s*["']?#)(?:\s*"[^"\\]*"\s*|\s*'[^'\\]*'\s*|[^'"()\\]*)\)/gi;
const embedded = /@(?:font-face\s*|property\s[^{}@]*)\{[^{}]*\}/gi;
/** Matches custom properties from their names' start. */
const variables = /(?<![^\s;{}])--[^\s:;{}]*\s*:[^;{}]*/g;
/** Excludes `@`, so that an unterminated rule is not read again for each rule before it. */
const imports = /@(?:import|charset|namespace)\b[^;{}@]*;/gi;

/**
 * Returns whether a value refers only to its own document. Comments stay, because browsers read
 * `url(/*…` as a URL.
 */
export const isSafeValue = (value: string): boolean => !unsafe.test(value.replace(references, ' '));

/** Removes resources, and references that the count of repetitions would miss. */
const bounded = (css: string): string =>
  css
    .replace(resources, 'none')
    .replace(variables, (declaration) => (/url\s*\(/i.test(declaration) ? '' : declaration));

/**
 * Removes comments, imports and fonts from a style sheet; returns '' if it could load or run
 * anything.
 */
export function safeSheet(text: string): string {
  const own = text.replace(comments, ' ').replace(embedded, ' ').replace(imports, ' ');
  const sheet = bounded(own);
  return isSafeValue(sheet) ? sheet : '';
}

/** Returns the safe declarations of a `style` attribute. */
export function safeDeclarations(text: string): string {
  const declarations = bounded(text.replace(comments, ' ')).split(';');
  return declarations
    .filter((declaration) => declaration.trim() !== '' && isSafeValue(declaration))
    .join(';');
}
