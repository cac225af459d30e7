'use client';

import { createLoader } from '@image-delivery/sdk/next';

export default createLoader({
  baseUrl: process.env.IMAGES_URL,
  project: process.env.IMAGES_PROJECT,
  origin: process.env.IMAGES_ORIGIN,
});
