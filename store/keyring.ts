import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from '../contract/settings/lists.ts';

const cipher = 'aes-256-gcm';
/** With random 96-bit initialisation vectors, a key can encrypt 2^32 texts (NIST SP 800-38D). */
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts texts for the store. The first key encrypts and all keys decrypt, so keys can be
 * rotated. A ciphertext is bound to a context, such as its project, and cannot be decrypted in
 * another context.
 */
export class Keyring {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #first: string | null;

  constructor(keys: readonly EncryptionKey[]) {
    this.#keys = new Map(keys.map(({ id, secret }) => [id, Buffer.from(secret, 'base64')]));
    this.#first = keys[0]?.id ?? null;
  }

  get isEmpty(): boolean {
    return this.#first === null;
  }

  /** @returns `id.base64url` of the initialisation vector, the tag and the encrypted text */
  seal(text: string, context: string): string {
    const key = this.#keys.get(this.#first ?? '');
    if (key === undefined) throw new Error('there is no key to encrypt with');
    const iv = randomBytes(ivBytes);
    const encryption = createCipheriv(cipher, key, iv).setAAD(Buffer.from(context));
    const body = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()]);
    const sealed = Buffer.concat([iv, encryption.getAuthTag(), body]);
    return `${this.#first}.${sealed.toString('base64url')}`;
  }

  /** Returns the text; null if the text was changed, the context differs or the key is missing. */
  open(sealed: string, context: string): string | null {
    const [id = '', encoded = ''] = sealed.split('.');
    const key = this.#keys.get(id);
    const bytes = Buffer.from(encoded, 'base64url');
    if (key === undefined || bytes.length < ivBytes + tagBytes) return null;
    const iv = bytes.subarray(0, ivBytes);
    const tag = bytes.subarray(ivBytes, ivBytes + tagBytes);
    try {
      const options = { authTagLength: tagBytes };
      const decryption = createDecipheriv(cipher, key, iv, options)
        .setAAD(Buffer.from(context))
        .setAuthTag(tag);
      const body = bytes.subarray(ivBytes + tagBytes);
      return Buffer.concat([decryption.update(body), decryption.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}
