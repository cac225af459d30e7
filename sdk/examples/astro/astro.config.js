import { imageDelivery } from '@image-delivery/sdk/astro';
import { defineConfig } from 'astro/config';

const {
  IMAGES_URL = 'http://localhost:3000',
  IMAGES_PROJECT = 'prj_32gx1acb9wtykf3m',
  IMAGES_MAX_WIDTH = '0',
  PORT = '4000',
} = process.env;

export default defineConfig({
  site: `http://127.0.0.1:${PORT}`,
  integrations: [
    imageDelivery({
      baseUrl: IMAGES_URL,
      project: IMAGES_PROJECT,
      maxWidth: Number(IMAGES_MAX_WIDTH),
    }),
  ],
});
