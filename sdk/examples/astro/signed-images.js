import { createService } from '@image-delivery/sdk/astro';
import { createSigner } from '@image-delivery/sdk/sign';
import { IMAGES_SECRET, settings } from './images.js';

const days = 24 * 3_600;

/** The image service of projects that require signed URLs. Build the site again before they expire. */
export default createService({
  ...settings,
  sign: createSigner({ ...settings, secret: IMAGES_SECRET, validFor: 30 * days }),
});
