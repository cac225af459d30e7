import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { decodeFile, encodeFile } from '../../../pool/cache/file.ts';
import { keyOf, picture } from './pictures.ts';

const key = keyOf('a');
const image = picture(3_000);
const file = Buffer.concat(encodeFile(key, image));

/** A file with this header and a valid digest. */
function withHead(head: string): Buffer {
  const bytes = Buffer.from(head);
  const fixed = Buffer.from(file.subarray(0, 48));
  fixed.writeUInt32BE(bytes.length, 8);
  createHash('sha256').update(bytes).digest().copy(fixed, 16);
  return Buffer.concat([fixed, bytes, image.body]);
}

t.test('an encoded file is decoded', async (t) => {
  t.same(decodeFile(key, file), image);
  const empty = { ...picture(0), contentType: 'image/svg+xml; "ü"' };
  t.same(decodeFile(key, Buffer.concat(encodeFile(key, empty))), empty);
});

t.test('the body is not copied', async (t) => {
  t.equal(encodeFile(key, image)[1], image.body);
  t.equal(decodeFile(key, file)?.body.buffer, file.buffer);
});

t.test('a truncated file is refused', async (t) => {
  const accepted = [];
  for (let length = 0; length < file.length; length++) {
    if (decodeFile(key, file.subarray(0, length)) !== null) accepted.push(length);
  }
  t.same(accepted, []);
});

t.test('a file with additional or zeroed bytes is refused', async (t) => {
  t.equal(decodeFile(key, Buffer.concat([file, Buffer.from([0])])), null);
  t.equal(decodeFile(key, Buffer.concat([file, file])), null);
  for (let start = 0; start < file.length; start += 97) {
    const holed = Buffer.from(file).fill(0, start, Math.min(start + 300, file.length));
    t.equal(decodeFile(key, holed), null, `zeros from ${start}`);
  }
  t.equal(decodeFile(key, Buffer.alloc(file.length)), null);
});

t.test('a flipped bit is detected', async () => {
  const flip = fc.tuple(fc.nat(file.length - 1), fc.nat(7));
  fc.assert(
    fc.property(flip, ([at, bit]) => {
      const flipped = Buffer.from(file);
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
      return decodeFile(key, flipped) === null;
    }),
    { numRuns: 2_000 },
  );
});

t.test('the file of another key is refused', async (t) => {
  t.equal(decodeFile(keyOf('b'), file), null);
});

t.test('a body with the header of another image is refused', async (t) => {
  const [head] = encodeFile(key, image);
  t.equal(decodeFile(key, Buffer.concat([head, picture(3_000, 'b').body])), null);
});

t.test('an invalid header with a valid digest is refused', async (t) => {
  const { body: _, ...facts } = image;
  t.ok(decodeFile(key, withHead(JSON.stringify({ key, ...facts }))), 'a valid header');
  const wrong = ['', '{', 'null', '[]', '1', '"x"', '{}', JSON.stringify(facts)];
  wrong.push(JSON.stringify({ key, etag: image.etag }));
  wrong.push(JSON.stringify({ key, ...facts, width: '40' }));
  for (const head of [...wrong, '\u0000', '['.repeat(50_000)]) {
    t.equal(decodeFile(key, withHead(head)), null, head.slice(0, 30));
  }
});

t.test('arbitrary bytes are refused', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, begun) => {
      const start = begun ? file.subarray(0, 8) : Buffer.alloc(0);
      return decodeFile(key, Buffer.concat([start, bytes])) === null;
    }),
    { numRuns: 2_000 },
  );
});
