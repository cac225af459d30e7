import { createServer } from 'node:http';
import { createImageUrls } from '@image-delivery/sdk';
import { createSigner } from '@image-delivery/sdk/sign';

const {
  IMAGES_URL = 'http://localhost:3000',
  IMAGES_PROJECT = 'prj_32gx1acb9wtykf3m',
  IMAGES_ORIGIN = 'http://127.0.0.1:8000',
  IMAGES_MAX_WIDTH = '0',
  IMAGES_SECRET,
  PORT = '4000',
} = process.env;

const settings = { baseUrl: IMAGES_URL, project: IMAGES_PROJECT };
const urls = createImageUrls({
  ...settings,
  origin: IMAGES_ORIGIN,
  maxWidth: Number(IMAGES_MAX_WIDTH),
  sign: IMAGES_SECRET && createSigner({ ...settings, secret: IMAGES_SECRET, validFor: 3600 }),
});

const escaped = (text) => text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
const attributes = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');

/** Renders an image over the small placeholder that is visible until the image loads. */
async function html(src, alt, options) {
  const { sources, img } = urls.picture(src, options);
  const style = `background: url(${await urls.placeholder(src)}) center / cover`;
  return `<picture>
    ${sources.map((source) => `<source${attributes(source)}>`).join('\n    ')}
    <img${attributes({ ...img, alt, style })}>
  </picture>`;
}

/** Returns a source's size, so that the image never has more pixels than its source. */
async function sides(src) {
  const facts = await urls.facts(src);
  return { sourceWidth: facts.source.width, sourceHeight: facts.source.height };
}

createServer(async (_, response) => {
  const [hero, thumbnail, small] = await Promise.all(
    ['/landscape.jpg', '/coast.jpg', '/pulse.gif'].map(sides),
  );
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(`<!doctype html>
<html lang="en">
  <meta name="viewport" content="width=device-width">
  <title>Plain HTML</title>
  <link rel="icon" href="data:,">
  <style>img { max-width: 100%; height: auto }</style>
  ${await html('/landscape.jpg', 'A hero', { ...hero, ratio: 16 / 9, sizes: '100vw' })}
  ${await html('/coast.jpg', 'A thumbnail', { ...thumbnail, fixed: 200, formats: ['webp'] })}
  ${await html('/pulse.gif', 'A small source', { ...small, sizes: '50vw', formats: ['webp'] })}
</html>`);
}).listen(Number(PORT), '127.0.0.1');
