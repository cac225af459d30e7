import { createHmac } from 'node:crypto';
import {
  checkTimes,
  expiry,
  type Signable,
  type Signer,
  type SignerOptions,
  signed,
} from './signed.ts';

export type { AsyncSigner, Signable, Signer, SignerOptions } from './signed.ts';
export { createAsyncSigner } from './web.ts';

/**
 * Creates a function that signs a project's image URLs, srcsets and pictures, for `sign` in
 * `createImageUrls`. Requires Node. It signs every project URL that it receives: never pass URLs
 * that a user has written.
 *
 * @throws TypeError for impossible times; the signer throws it for other options, such as a
 *   missing secret
 */
export function createSigner(options: SignerOptions): Signer {
  checkTimes(options);
  const computeSignature = (text: string, secret: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url');
  return <T extends Signable>(value: T): T =>
    signed(value, options, expiry(options), computeSignature);
}
