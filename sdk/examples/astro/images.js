/** The site's settings; environment variables override them. */
const {
  IMAGES_URL = 'http://localhost:3000',
  IMAGES_PROJECT = 'prj_32gx1acb9wtykf3m',
  IMAGES_MAX_WIDTH = '0',
  PORT = '4000',
} = process.env;

export const { IMAGES_SECRET } = process.env;
export const site = `http://127.0.0.1:${PORT}`;
export const settings = {
  baseUrl: IMAGES_URL,
  project: IMAGES_PROJECT,
  origin: site,
  maxWidth: Number(IMAGES_MAX_WIDTH),
};
