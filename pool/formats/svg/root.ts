/**
 * The index of the root element's `<`, or of the internal subset before it; null if the root is not svg.
 * Only an XML declaration, processing instructions, comments and a document type may precede the root. A
 * document type with an internal subset only has to name the root element: `embeddedImages` refuses internal
 * subsets with a specific error.
 *
 * @param text the bytes of a document, one character each
 */
export function svgRoot(text: string): number | null {
  const byteOrderMark = '\xef\xbb\xbf';
  let at = text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at += 1;
    const rest = text.slice(at);
    const prologue = prologues.find(({ open }) => rest.startsWith(open));
    if (prologue === undefined) return /^<svg[\s/>]/.test(rest) ? at : null;
    const [all] = prologue.whole.exec(rest) ?? [];
    if (all === undefined || prologue.refused?.test(all) === true) return null;
    if (all.endsWith('[')) return /^<!DOCTYPE\s+svg[\s[]/.test(all) ? at : null;
    at += all.length;
  }
}

const prologues: readonly { open: string; whole: RegExp; refused?: RegExp }[] = [
  {
    open: '<?',
    whole: /^<\?[\s\S]*?\?>/,
    // In encodings that are not supersets of ASCII the decoder would see different elements.
    refused:
      /\sencoding\s*=\s*["'](?!(?:utf-8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-9])["'])/i,
  },
  { open: '<!--', whole: /^<!--[\s\S]*?-->/ },
  // Up to its end, or up to the start of its internal subset.
  { open: '<!DOCTYPE', whole: /^<!DOCTYPE(?:"[^"]*"|'[^']*'|[^"'[>])*[[>]/ },
];
