const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

/** Escapes a text for an XML element, or for an attribute in double quotes. */
export const escapeXml = (text: string): string =>
  text.replace(/[&<>"\r]/g, (character) => references[character] ?? '');
