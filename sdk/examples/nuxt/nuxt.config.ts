const {
  IMAGES_URL = 'http://localhost:3000',
  IMAGES_PROJECT = 'prj_32gx1acb9wtykf3m',
  IMAGES_ORIGIN = 'http://127.0.0.1:8000',
  IMAGES_MAX_WIDTH = '0',
} = process.env;
const options = { baseUrl: IMAGES_URL, project: IMAGES_PROJECT, origin: IMAGES_ORIGIN };

export default defineNuxtConfig({
  compatibilityDate: '2026-01-01',
  telemetry: false,
  modules: ['@nuxt/image'],
  app: { head: { htmlAttrs: { lang: 'en' }, link: [{ rel: 'icon', href: 'data:,' }] } },
  image: {
    provider: 'imageDelivery',
    providers: { imageDelivery: { provider: '@image-delivery/sdk/nuxt', options } },
  },
  runtimeConfig: { images: { ...options, maxWidth: Number(IMAGES_MAX_WIDTH) } },
});
