import { SaxesParser } from 'saxes';

/** No answer of S3 or STS is as deep. */
const maxDepth = 20;

/**
 * Calls `onText` with the text of each element that has only text, and the names of it and its parents,
 * such as `ListBucketResult/Contents/Key`. Namespaces are ignored: services differ in them.
 *
 * @throws Error for a text that is no XML, or has a document type
 */
export function readXml(text: string, onText: (path: string, text: string) => void): void {
  const parser = new SaxesParser({ xmlns: false });
  const names: string[] = [];
  let content = '';
  parser.on('error', () => {
    throw new Error('an answer that is not XML');
  });
  parser.on('doctype', () => {
    throw new Error('an answer with a document type');
  });
  parser.on('opentag', ({ name }) => {
    names.push(name);
    if (names.length > maxDepth) throw new Error('an answer with many levels');
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
