const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\r': '&#13;',
};

const escaping = (characters: RegExp) => (text: string) =>
  text.replace(characters, (character) => references[character] ?? '');

/** Escapes a text for an XML element, or for an attribute in double quotes. */
export const escapeXml = escaping(/[&<>"\r]/g);

/** Escapes a text for an HTML element or a quoted attribute. */
export const escapeHtml = escaping(/[&<>"']/g);
