import { randomBytes } from 'node:crypto';
import t from 'tap';
import { Keyring } from '../../store/keyring.ts';

const key = (id: string) => ({ id, secret: randomBytes(32).toString('base64') });

t.test('decrypts a text with the key that encrypted it, in its context', async (t) => {
  const [old, current] = [key('old'), key('current')];
  const sealed = new Keyring([old]).seal('geheim é', 'project a');
  t.notMatch(sealed, /geheim/);
  t.not(new Keyring([old]).seal('geheim é', 'project a'), sealed, 'random');
  const rotated = new Keyring([current, old]);
  t.equal(rotated.open(sealed, 'project a'), 'geheim é', 'after a rotation');
  t.match(rotated.seal('x', ''), /^current\./);
  t.equal(rotated.open(sealed, 'project b'), null, 'another context');
  t.equal(new Keyring([current]).open(sealed, 'project a'), null, 'without its key');
  t.equal(
    new Keyring([key('old')]).open(sealed, 'project a'),
    null,
    'another key with the same id',
  );
});

t.test('does not decrypt a changed text', async (t) => {
  const keyring = new Keyring([key('a')]);
  const sealed = keyring.seal('{"headers":{}}', 'c');
  const bytes = Buffer.from(sealed.slice(2), 'base64url');
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    t.equal(keyring.open(`a.${changed.toString('base64url')}`, 'c'), null, `byte ${index}`);
  }
  const malformed = [
    '',
    '.',
    'a',
    'a.',
    'a.AAAA',
    `a.${'A'.repeat(37)}`,
    'b.AAAA',
    sealed.slice(0, -9),
  ];
  for (const text of malformed) t.equal(keyring.open(text, 'c'), null, text);
});

t.test('encrypts no text if there are no keys', async (t) => {
  const keyring = new Keyring([]);
  t.ok(keyring.isEmpty);
  t.throws(() => keyring.seal('a', 'b'), /no key/);
});
