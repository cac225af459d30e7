import t from 'tap';
import { prefersPage } from '../../../server/http/accept.ts';

t.test('sends a page to clients that prefer it to JSON', async (t) => {
  const pages = [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'text/html',
    'TEXT/HTML; q=0.2, */*;q=0.1',
    'application/json;q=0.5, text/html;q=0.6',
    'text/*',
    'text/html, application/json;q=0',
  ];
  const others = [
    '',
    '*/*',
    'application/json',
    'application/json, text/plain, */*',
    'application/json, text/html;q=0.9',
    'application/*, text/html;q=0.9',
    // Headers of a browser's image element, and of a script.
    'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
    'text/html;q=0',
    'text/html;q=0, */*',
    'text/htmlx',
    'image/svg+xml',
    ',;q=,text/html;q=x=',
    // Longer than a browser's.
    `text/html${',a/b'.repeat(300)}`,
  ];
  for (const accept of pages) t.ok(prefersPage(accept), accept);
  for (const accept of others) t.notOk(prefersPage(accept), accept);
});
