import t from 'tap';
import { createClient, NotPrewarmableError } from '../../sdk/src/client/index.ts';
import { createImageUrls, type PictureOptions } from '../../sdk/src/index.ts';
import { picture as image } from '../service/origin.ts';
import { startDelivery } from '../service/service.ts';
import { cacheOf, startWorker } from '../service/worker/worker.ts';

const apiKey = 'sk_key-of-the-client';
/** Accept headers of browsers with AVIF and WebP, with WebP, and with neither. */
const browsers = ['image/avif,image/webp,*/*', 'image/webp,*/*', '*/*'];

const urlsOf = (srcset: string) => srcset.split(', ').map((candidate) => candidate.split(' ')[0]);

t.test('after warming, every URL of a picture is a hit', async (t) => {
  const { service, origin, project } = await startDelivery(t, {
    environment: { SERVICE_ROOT_API_KEY: apiKey },
  });
  origin.serve('/a.jpg', await image(80, 60));
  await startWorker(t, service);
  const client = createClient({ baseUrl: service.url, apiKey });
  await client.updateProjectSettings({ projectId: project, autoFormat: false, defaultDpr: 2 });
  const images = createImageUrls({ baseUrl: service.url, project });

  const pictures: Record<string, PictureOptions> = {
    'by default': {},
    'a fixed size': { fixed: 20, formats: ['webp'], fmt: 'jpeg' },
    'more widths than a request has': {
      widths: Array.from({ length: 13 }, (_, index) => 20 + index),
      formats: ['avif', 'webp'],
      fmt: 'png',
      q: 50,
    },
    'all options of prewarming': { widths: [30], q: 31, fit: 'fill', formats: [] },
    'up to the size of the source': { sourceWidth: 80, sourceHeight: 60 },
  };
  for (const [index, [name, options]] of Object.entries(pictures).entries()) {
    const source = `${origin.url}/a.jpg?name=${index},%20+`;
    const picture = images.picture(source, options);
    const warming = await client.warm(picture);
    for (const prewarm of warming) {
      t.match(await client.waitForPrewarm(prewarm), { status: 'done', failures: [] }, name);
    }
    const { img, sources } = picture;
    const urls = new Set([
      img.src,
      ...urlsOf(img.srcset ?? ''),
      ...sources.flatMap(({ srcset }) => urlsOf(srcset)),
    ]);
    t.ok(urls.size > 0);
    const variants = warming.reduce((sum, { variantCount }) => sum + variantCount, 0);
    t.equal(variants, urls.size, `${name}: each image is queued once`);
    for (const url of urls) {
      for (const accept of browsers) {
        t.match(await cacheOf(String(url), accept), /^(memory|disk)$/, `${name}: ${url} ${accept}`);
      }
    }
  }

  const impossible: Record<string, [PictureOptions, RegExp]> = {
    'a height': [{ ratio: 1 }, /it has no h[;.]/],
    'another option': [{ blur: 3, widths: [10] }, /it has no blur/],
    'a large width': [{ widths: [10, 6_000] }, /w must be a whole number from 1 to 5000/],
    'a low quality': [{ q: 29 }, /q must be/],
    'automatic quality': [{ q: 'auto' }, /q must be/],
    'a format': [{ formats: ['gif'] }, /fmt must be one of auto, avif/],
    'a preset': [{ preset: 'constructor' }, /it has no preset/],
  };
  for (const [name, [options, message]] of Object.entries(impossible)) {
    const picture = images.picture(`${origin.url}/b.jpg`, options);
    const error = await client.warm(picture).catch((error) => error);
    t.ok(error instanceof NotPrewarmableError, name);
    t.match(error.message, message, name);
    t.ok(error.urls.length > 0);
  }
  const wide = images.picture(`${origin.url}/b.jpg`, { widths: [10, 6_000], formats: [] });
  const error = await client.warm(wide).catch((error) => error);
  t.equal(error.urls.length, 1, 'names only the URLs that cannot be warmed');
  const elsewhere = { sources: [], img: { src: 'https://www.example.com/a.jpg' } };
  await t.rejects(client.warm(elsewhere), { message: /not an image of the service/ });
  const malformed = {
    sources: [],
    img: { src: `${service.url}/img/https%3A%2F%2Fa%E0?project=a` },
  };
  await t.rejects(client.warm(malformed), { message: /not an image of the service/ });
  t.same(await client.warm(images.picture('data:image/gif;base64,AA==')), []);
  t.equal(origin.requests.get('/b.jpg'), undefined);
});
