import { imageConfig } from '@image-delivery/sdk/next';

const {
  IMAGES_URL = 'http://localhost:3000',
  IMAGES_PROJECT = 'prj_32gx1acb9wtykf3m',
  IMAGES_ORIGIN = 'http://127.0.0.1:8000',
  IMAGES_MAX_WIDTH = '0',
} = process.env;

export default {
  images: imageConfig('./image-loader.js', { maxWidth: Number(IMAGES_MAX_WIDTH) }),
  env: { IMAGES_URL, IMAGES_PROJECT, IMAGES_ORIGIN },
  // Prevents Next from choosing a parent folder with a lock file.
  turbopack: { root: import.meta.dirname },
  outputFileTracingRoot: import.meta.dirname,
};
