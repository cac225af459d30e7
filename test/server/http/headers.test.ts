import t from 'tap';
import {
  checkHeaders,
  encodeHeaders,
  getEncoded,
  type Headers,
  withHeaders,
} from '../../../server/http/responses.ts';

const headers: Headers = [
  ['content-type', 'image/png'],
  ['x-name', 'a b'],
];

t.test(
  "starts the encoding after the first header's name, and ends it before a line break",
  async (t) => {
    const bytes = getEncoded(encodeHeaders(headers)) ?? new Uint8Array();
    t.equal(Buffer.from(bytes).toString(), 'image/png\r\nx-name: a b');
  },
);

t.test('drops the encoding from changed copies of encoded headers', async (t) => {
  encodeHeaders(headers);
  const copy = withHeaders({ status: 200, headers, body: null }, [['x-more', '1']]);
  t.equal(getEncoded(copy.headers), undefined);
  t.equal(getEncoded([...headers]), undefined);
});

t.test('rejects a value with a line break or an invalid character', async (t) => {
  // The letter's last bytes equal a line break.
  for (const character of ['\r', '\n', '\0', '\x7f', 'é', '\u010a']) {
    t.throws(() => encodeHeaders([['x-name', `a${character}b`]]), /the value of x-name/);
    t.throws(() => checkHeaders([['x-name', `a${character}b`]]), /the value of x-name/);
  }
  checkHeaders([['x-name', 'a\tb ~']]);
});
