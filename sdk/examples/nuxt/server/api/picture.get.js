import { createImageUrls } from '@image-delivery/sdk';
import { createSigner } from '@image-delivery/sdk/sign';

const { IMAGES_SECRET } = process.env;

/** The secret stays on the server. */
export default defineEventHandler((event) => {
  const settings = useRuntimeConfig(event).images;
  const { baseUrl, project } = settings;
  const signing = { baseUrl, project, secret: IMAGES_SECRET, validFor: 3600 };
  const urls = createImageUrls({ ...settings, sign: IMAGES_SECRET && createSigner(signing) });
  const sides = { sourceWidth: 2725, sourceHeight: 2225 };
  return urls.picture('/landscape.jpg', { ...sides, sizes: '50vw' });
});
