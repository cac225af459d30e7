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
 * A function that signs image URLs, srcsets and pictures of a project, for the `sign` of `createImageUrls`. It needs
 * Node. It signs every URL of the project that it gets: do not give it one that a user has written.
 *
 * @throws TypeError for times that cannot be; the signer throws one for the other options, such as an absent secret
 */
export function createSigner(options: SignerOptions): Signer {
  checkTimes(options);
  const signatureOf = (text: string): string =>
    createHmac('sha256', options.secret).update(text).digest('base64url');
  return <T extends Signable>(value: T): T => signed(value, options, expiry(options), signatureOf);
}
