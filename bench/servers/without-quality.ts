const quality = '{quality}';
const word = /\{(?!quality\})\w+\}/;

/**
 * A template whose URLs have the server's own quality: without the path segment or the query parameter
 * that contains `{quality}`. Of one that has other words in braces too, only the part between commas or
 * colons is left out, as in `w_{width},q_{quality}` and `filters:quality({quality}):format({format})`.
 * What cannot be left out that way stays.
 */
export function withoutQuality(template: string): string {
  const query = template.indexOf('?');
  const path = query === -1 ? template : template.slice(0, query);
  const parameters = query === -1 ? '' : template.slice(query + 1);
  const left = without(parameters, '&');
  return left === '' ? without(path, '/') : `${without(path, '/')}?${left}`;
}

function without(text: string, separator: '/' | '&' | ',' | ':'): string {
  return text
    .split(separator)
    .flatMap((part) => {
      if (!part.includes(quality)) return [part];
      if (!word.test(part)) return [];
      if (separator === '/' || separator === '&') {
        return [without(part, part.includes(',') ? ',' : ':')];
      }
      return [part];
    })
    .join(separator);
}
