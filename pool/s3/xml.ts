import { SaxesParser } from 'saxes';

/** S3 and STS responses are less deep. */
const maxDepth = 20;

/**
 * Calls `onText` when an element ends, with its path, such as `ListBucketResult/Contents/Key`, and
 * the text after its last child. Ignores namespaces, because services use different namespaces.
 *
 * @throws Error for malformed XML, a document type, or too many levels
 */
export function readXml(text: string, onText: (path: string, text: string) => void): void {
  const parser = new SaxesParser({ xmlns: false });
  const names: string[] = [];
  let content = '';
  parser.on('error', () => {
    throw new Error('the response is not XML');
  });
  parser.on('doctype', () => {
    throw new Error('the response has a document type');
  });
  parser.on('opentag', ({ name }) => {
    names.push(name);
    if (names.length > maxDepth) throw new Error('the response has too many levels');
    content = '';
  });
  parser.on('text', (part) => {
    content += part;
  });
  parser.on('cdata', (part) => {
    content += part;
  });
  parser.on('closetag', () => {
    onText(names.join('/'), content);
    names.pop();
    content = '';
  });
  parser.write(text).close();
}
