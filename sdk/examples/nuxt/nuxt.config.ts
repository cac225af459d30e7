import { IMAGES_ORIGIN, IMAGES_PROJECT, IMAGES_URL } from './images.js';

export default defineNuxtConfig({
  compatibilityDate: '2026-01-01',
  telemetry: false,
  modules: ['@nuxt/image'],
  app: { head: { htmlAttrs: { lang: 'en' }, link: [{ rel: 'icon', href: 'data:,' }] } },
  image: {
    provider: 'imageDelivery',
    providers: {
      imageDelivery: {
        provider: '@image-delivery/sdk/nuxt',
        options: { baseUrl: IMAGES_URL, project: IMAGES_PROJECT, origin: IMAGES_ORIGIN },
      },
    },
  },
});
