import {
  type AsyncSigner,
  checkTimes,
  expiry,
  type Signable,
  type SignerOptions,
  signed,
} from './signed.ts';

const utf8 = new TextEncoder();

/** In base64url without padding. */
function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * Creates a function that signs a project's image URLs, srcsets and pictures with WebCrypto, for
 * edge runtimes; see `createSigner`.
 *
 * @throws TypeError for impossible times; the signer rejects with it for other options
 */
export function createAsyncSigner(options: SignerOptions): AsyncSigner {
  checkTimes(options);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const importKey = (secret: string) =>
    crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['sign']);
  let imported: ReturnType<typeof importKey> | undefined;
  async function sign<T extends Signable>(value: T): Promise<T> {
    const exp = expiry(options);
    const signatures = new Map<string, string>();
    signed(value, options, exp, (text, secret) => {
      imported ??= importKey(secret);
      signatures.set(text, '');
      return '';
    });
    const key = await imported;
    if (key === undefined) return value;
    for (const text of signatures.keys()) {
      signatures.set(text, base64url(await crypto.subtle.sign('HMAC', key, utf8.encode(text))));
    }
    return signed(value, options, exp, (text) => signatures.get(text) ?? '');
  }
  return sign;
}

/** @throws Error always: see `createAsyncSigner` */
export function createSigner(): never {
  throw new Error('createSigner needs Node; use createAsyncSigner here.');
}
