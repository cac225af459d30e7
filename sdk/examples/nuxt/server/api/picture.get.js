import { createImageUrls } from '@image-delivery/sdk';
import { createSigner } from '@image-delivery/sdk/sign';
import { IMAGES_MAX_WIDTH, IMAGES_ORIGIN, IMAGES_PROJECT, IMAGES_URL } from '../../images.js';

const { IMAGES_SECRET } = process.env;

const urls = createImageUrls({
  baseUrl: IMAGES_URL,
  project: IMAGES_PROJECT,
  origin: IMAGES_ORIGIN,
  maxWidth: Number(IMAGES_MAX_WIDTH),
  sign: IMAGES_SECRET && createSigner({ secret: IMAGES_SECRET, validFor: 3600 }),
});

/** The secret stays on the server. */
export default defineEventHandler(() => {
  const sides = { sourceWidth: 2725, sourceHeight: 2225 };
  return urls.picture('/landscape.jpg', { ...sides, sizes: '50vw' });
});
