/** The settings of the app, which environment variables replace. */
export const {
  IMAGES_URL = 'http://localhost:3000',
  IMAGES_PROJECT = 'prj_32gx1acb9wtykf3m',
  IMAGES_ORIGIN = 'http://127.0.0.1:8000',
  IMAGES_MAX_WIDTH = '0',
} = process.env;
