import t from 'tap';
import { encodeHeaders, encodingOf, withHeaders } from '../../../server/http/headers.ts';
import type { Headers } from '../../../server/http/request.ts';

const headers: Headers = [
  ['content-type', 'image/png'],
  // The last bytes of these letters are those of a line break.
  ['x-name', 'a\u010d\u010ab'],
];

t.test(
  'an encoding has the headers after the name of the first one, and no more lines',
  async (t) => {
    const bytes = encodingOf(encodeHeaders(headers)) ?? new Uint8Array();
    t.same(
      Buffer.from(bytes)
        .toString()
        .split(/[\r\n]+/),
      ['image/png', 'x-name: a\u010d\u010ab'],
    );
    t.equal(Buffer.from(bytes).toString('latin1').split('\r\n').length, 2);
  },
);

t.test('changed copies of encoded headers have no encoding', async (t) => {
  encodeHeaders(headers);
  const copy = withHeaders({ status: 200, headers, body: null }, [['x-more', '1']]);
  t.equal(encodingOf(copy.headers), undefined);
  t.equal(encodingOf([...headers]), undefined);
});
