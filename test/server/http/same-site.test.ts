import t from 'tap';
import { isSameHost } from '../../../server/http/same-site.ts';

t.test("ignores the port when it compares an Origin's host", async (t) => {
  for (const [origin, host, isSame] of [
    ['http://localhost:5173', 'localhost', true],
    ['http://localhost:5173', '127.0.0.1', true],
    ['http://[::1]:5173', 'localhost', true],
    ['https://images.example', 'images.example', true],
    ['http://192.0.2.1:80', '192.0.2.1', true],
    ['http://192.0.2.2', '192.0.2.1', false],
    ['http://192.0.2.1', 'localhost', false],
    ['http://localhost', '192.0.2.1', false],
    ['https://evil.example', 'localhost', false],
    ['http://localhost.evil.example', 'localhost', false],
    ['null', 'null', false],
    ['localhost', 'localhost', false],
    ['', '', false],
    [`http://localhost/${'a'.repeat(300)}`, 'localhost', false],
  ] as const) {
    t.equal(isSameHost(origin, host), isSame, `${origin} ${host}`);
  }
});
