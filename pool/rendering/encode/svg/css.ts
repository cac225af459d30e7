/** Characters of all style sheets and `style` attributes of a document. */
export const maxStyleText = 1_000_000;

/**
 * Matches values that load, run or escape; references within the document are replaced beforehand.
 */
const unsafe =
  /\\|<|&|@import|@charset|@namespace|@font-face|expression\s*\(|(?:java|vb)script:|behavior\s*:|-moz-binding|(?:url|src|image|image-set|cross-fade|element|paint|attr|url-prefix|domain|document)\s*\(|@property|(?<![^\s;{}])(?:(?:-webkit-)?(?:text|box)-shadow|vector-effect|animation-composition)\s*:|(?:gradient|path|polygon|shape)\s*\(/i;

const comments = /\/\*[\s\S]*?(?:\*\/|$)/g;
const references = /url\(\s*(?:"#[^"'()\\]*"|'#[^"'()\\]*'|#[^"'()\\\s]*)\s*\)/gi;
/**
 * Matches resources, which become `none`, as if they had failed to load. No two parts match the
 * same spaces, because the time would grow quadratically.
 */
const resources = /url\((?!\s*["']?#)(?:\s*"[^"\\]*"\s*|\s*'[^'\\]*'\s*|[^'"()\\]*)\)/gi;
const embedded = /@(?:font-face\s*|property\s[^{}@]*)\{[^{}]*\}/gi;
/** Matches functions that draw outlines or gradients, with unbounded cost. */
const drawings = /(?<![\w-])(?:[\w-]*gradient|path|polygon|shape)\([^()]*(?:\([^()]*\)[^()]*)*\)/gi;
/** Matches effects with unbounded cost: shadows, dashes that do not scale, and sums of animations. */
const effects =
  /(?<![^\s;{}])(?:(?:-webkit-)?(?:text|box)-shadow|vector-effect|animation-composition)\s*:[^;{}]*/gi;
/** Matches easings that can leave the range between two keyframes, without their arguments. */
const overshoots =
  /(?<![\w-])(?:linear|cubic-bezier(?!\((?:\s*(?:0?\.\d+|0|1(?:\.0+)?)\s*[,)]){4}))(?=\()/gi;
/** Matches custom properties from their names' start. */
const variables = /(?<![^\s;{}])--[^\s:;{}]*\s*:[^;{}]*/g;
const costly = /(?:url|blur|drop-shadow)\s*\(/i;
/** Excludes `@`, so that an unterminated rule is not read again for each rule before it. */
const imports = /@(?:import|charset|namespace)\b[^;{}@]*;/gi;

/**
 * Returns whether a value refers only to its own document. Comments stay, because browsers read
 * `url(/*…` as a URL.
 */
export const isSafeValue = (value: string): boolean => !unsafe.test(value.replace(references, ' '));

/** Removes resources, and declarations that the weights of drawings do not count. */
const bounded = (css: string): string =>
  css
    .replace(resources, 'none')
    .replace(drawings, 'none')
    .replace(effects, '')
    .replace(overshoots, 'none')
    .replace(variables, (declaration) => (costly.test(declaration) ? '' : declaration));

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
