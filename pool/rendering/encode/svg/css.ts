/** Characters of all style sheets and `style` attributes of a document. */
export const maxStyleText = 1_000_000;

/** What loads, runs or escapes; a reference within the document is replaced before. */
const unsafe =
  /\\|<|&|@import|@charset|@namespace|@font-face|expression\s*\(|(?:java|vb)script:|behavior\s*:|-moz-binding|(?:url|src|image|image-set|cross-fade|element|paint|attr|url-prefix|domain|document)\s*\(/i;

const comments = /\/\*[\s\S]*?(?:\*\/|$)/g;
const references = /url\(\s*(?:"#[^"'()\\]*"|'#[^"'()\\]*'|#[^"'()\\\s]*)\s*\)/gi;
/**
 * Resources, which become `none`, as if they had failed to load. No two parts match the same spaces: the time would
 * grow with the square of their number.
 */
const resources = /url\((?!\s*["']?#)(?:\s*"[^"\\]*"\s*|\s*'[^'\\]*'\s*|[^'"()\\]*)\)/gi;
const embedded = /@font-face\s*\{[^{}]*\}/gi;
/** Without `@`, so that a rule without an end is not read once for each rule before it. */
const imports = /@(?:import|charset|namespace)\b[^;{}@]*;/gi;

/** Whether a value refers to nothing outside of its document. */
export const isSafeValue = (value: string): boolean =>
  !unsafe.test(value.replace(comments, ' ').replace(references, ' '));

/** A style sheet without comments, imports and fonts; '' if it may load or run something. */
export function safeSheet(text: string): string {
  const own = text.replace(comments, ' ').replace(embedded, ' ').replace(imports, ' ');
  const sheet = own.replace(resources, 'none');
  return isSafeValue(sheet) ? sheet : '';
}

/** The declarations of a `style` attribute that are safe. */
export function safeDeclarations(text: string): string {
  const declarations = text.replace(comments, ' ').replace(resources, 'none').split(';');
  return declarations.filter((one) => one.trim() !== '' && isSafeValue(one)).join(';');
}
