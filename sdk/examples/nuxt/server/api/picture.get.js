import { createImageUrls } from '@image-delivery/sdk';
import { createSigner } from '@image-delivery/sdk/sign';

const { IMAGES_SECRET } = process.env;
const sign = IMAGES_SECRET && createSigner({ secret: IMAGES_SECRET, validFor: 3600 });

/** The secret stays on the server. */
export default defineEventHandler((event) => {
  const urls = createImageUrls({ ...useRuntimeConfig(event).images, sign });
  const sides = { sourceWidth: 2725, sourceHeight: 2225 };
  return urls.picture('/landscape.jpg', { ...sides, sizes: '50vw' });
});
