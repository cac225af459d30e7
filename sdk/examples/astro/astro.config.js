import { fileURLToPath } from 'node:url';
import { imageDelivery } from '@image-delivery/sdk/astro';
import { defineConfig } from 'astro/config';
import { IMAGES_SECRET, settings, site } from './images.js';

const signed = fileURLToPath(new URL('signed-images.js', import.meta.url));

export default defineConfig({
  site,
  integrations: [imageDelivery({ ...settings, entrypoint: IMAGES_SECRET && signed })],
});
