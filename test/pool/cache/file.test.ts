import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { decodeFile, encodeFile } from '../../../pool/cache/file.ts';
import { propertyRuns } from '../../extended.ts';
import { picture, toKey } from './pictures.ts';

const key = toKey('a');
const image = picture(3_000);
const file = Buffer.concat(encodeFile(key, image));

/** Returns a file with this header and a valid digest. */
function withHeader(header: string): Buffer {
  const bytes = Buffer.from(header);
  const fixed = Buffer.from(file.subarray(0, 48));
  fixed.writeUInt32BE(bytes.length, 8);
  createHash('sha256').update(bytes).digest().copy(fixed, 16);
  return Buffer.concat([fixed, bytes, image.body]);
}

t.test('decodes an encoded file and does not copy the body', async (t) => {
  t.same(decodeFile(key, file), image);
  const empty = { ...picture(0), contentType: 'text/plain; charset=utf-8' } as const;
  t.same(decodeFile(key, Buffer.concat(encodeFile(key, empty))), empty);
  const warned = { ...image, warnings: ['maxbytes_exceeded' as const] };
  t.same(decodeFile(key, Buffer.concat(encodeFile(key, warned))), warned);
  const facts = { ...image, sourceSize: { width: 800, height: 600 } };
  t.same(decodeFile(key, Buffer.concat(encodeFile(key, facts))), facts);
  t.equal(encodeFile(key, image)[1], image.body);
  t.equal(decodeFile(key, file)?.body.buffer, file.buffer);
});

t.test('rejects truncated, longer and foreign files', async (t) => {
  const accepted = [];
  for (let length = 0; length < file.length; length++) {
    if (decodeFile(key, file.subarray(0, length)) !== null) accepted.push(length);
  }
  t.same(accepted, []);
  t.equal(decodeFile(key, Buffer.concat([file, Buffer.alloc(1)])), null);
  t.equal(decodeFile(key, Buffer.concat([file, file])), null);
  t.equal(decodeFile(key, Buffer.alloc(file.length)), null);
  t.equal(decodeFile(toKey('b'), file), null, 'another key');
  const [header] = encodeFile(key, image);
  const other = picture(3_000, 'b').body;
  t.equal(decodeFile(key, Buffer.concat([header, other])), null, 'another body');
});

t.test('detects a flipped bit', async () => {
  const flip = fc.tuple(fc.nat(file.length - 1), fc.nat(7));
  fc.assert(
    fc.property(flip, ([at, bit]) => {
      const flipped = Buffer.from(file);
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
      return decodeFile(key, flipped) === null;
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

t.test('rejects an invalid header with a valid digest', async (t) => {
  const { body: _, ...fields } = image;
  t.ok(decodeFile(key, withHeader(JSON.stringify({ key, ...fields }))), 'a valid header');
  const wrong = ['', '{', 'null', '[]', '1', '"x"', '{}', JSON.stringify(fields)];
  wrong.push(JSON.stringify({ key, etag: image.etag }));
  for (const contentType of ['text/html', 'text/xml', 'image/png\r\nset-cookie: a=b', '']) {
    wrong.push(JSON.stringify({ key, ...fields, contentType }));
  }
  for (const header of [...wrong, '\u0000', '['.repeat(50_000)]) {
    t.equal(decodeFile(key, withHeader(header)), null, header.slice(0, 30));
  }
});

t.test('rejects arbitrary bytes', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, hasMagic) => {
      const start = hasMagic ? file.subarray(0, 8) : Buffer.alloc(0);
      return decodeFile(key, Buffer.concat([start, bytes])) === null;
    }),
    { numRuns: propertyRuns(2_000) },
  );
});
