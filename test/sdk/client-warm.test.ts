import t from 'tap';
import { createClient, NotPrewarmableError } from '../../sdk/src/client/index.ts';
import { createImageUrls, type ImageOptions, type PictureOptions } from '../../sdk/src/index.ts';
import { picture as image } from '../service/origin.ts';
import { startDelivery } from '../service/service.ts';
import { fetchCache, startWorker } from '../service/worker/worker.ts';

const apiKey = 'sk_key-of-the-client';
/** Accept headers of browsers that support AVIF and WebP, only WebP, and neither format. */
const browsers = ['image/avif,image/webp,*/*', 'image/webp,*/*', '*/*'];

const toUrls = (srcset: string) => srcset.split(', ').map((candidate) => candidate.split(' ')[0]);

t.test('makes every URL of a picture a hit after warming', async (t) => {
  const { service, origin, project } = await startDelivery(t, {
    environment: { SERVICE_ROOT_API_KEY: apiKey },
  });
  origin.serve('/a.jpg', await image(80, 60));
  await startWorker(t, service);
  const client = createClient({ baseUrl: service.url, apiKey });
  await client.updateProjectSettings({ projectId: project, autoFormat: false, defaultDpr: 2 });
  const images = createImageUrls({ baseUrl: service.url, project });

  await client.putProjectPreset({
    projectId: project,
    presetName: 'card',
    parameters: { blur: 2, fmt: 'auto' },
  });

  await client.putProjectLayer({
    projectId: project,
    layerName: 'badge',
    image: { url: `${origin.url}/a.jpg` },
  });

  const size = { sourceWidth: 80, sourceHeight: 60 };
  const pictures: Record<string, PictureOptions> = {
    'by default': {},
    'a fixed size': { fixed: 20, formats: ['webp'], fmt: 'jpeg' },
    'more images than a request has': {
      widths: Array.from({ length: 18 }, (_, index) => 20 + index),
      formats: ['webp', 'jpeg'],
      fmt: 'png',
      q: 50,
    },
    'up to the size of the source': size,
    'a ratio': { ...size, ratio: 16 / 9, fp: [0.2, 0.7] },
    'a preset': { ...size, preset: 'card' },
    'a part of the source': { ...size, crop: [10, 5, 40, 50], sourceWidth: 40, sourceHeight: 50 },
    'a layer': { widths: [30], layer: 'badge' },
    'an image over the image': {
      widths: [30],
      overlay: `${origin.url}/a.jpg`,
      'overlay.w': 5,
      'overlay.pos': 'north',
    },
    'a share of the source': { widths: [30], crop: [0.1, 0.2, 0.5, 0.5] },
    'a version': { widths: [30], v: '007', formats: ['webp'] },
    'other options': {
      widths: [30],
      formats: ['gif'],
      q: 'auto',
      bg: 'tomato',
      rotate: -12.5,
      flip: true,
      trim: 5,
      animated: false,
      download: 'A file; with 100 % & + more.jpg',
      fallback: `${origin.url}/a.jpg?fallback`,
    },
  };
  const warm = async ([name, options]: [string, PictureOptions], index: number) => {
    const picture = images.picture(`${origin.url}/a.jpg?name=${index},%20+`, options);
    return { name, picture, warming: await client.warm(picture) };
  };
  for (const { name, picture, warming } of await Promise.all(Object.entries(pictures).map(warm))) {
    for (const prewarm of warming) {
      t.match(await client.waitForPrewarm(prewarm), { status: 'done', failures: [] }, name);
    }
    const { img, sources } = picture;
    const urls = new Set([
      img.src,
      ...toUrls(img.srcset ?? ''),
      ...sources.flatMap(({ srcset }) => toUrls(srcset)),
    ]);
    t.ok(urls.size > 0);
    const variants = warming.reduce((sum, { variantCount }) => sum + variantCount, 0);
    t.equal(variants, urls.size, `${name}: each image is queued once`);
    for (const url of urls) {
      for (const accept of browsers) {
        t.match(
          await fetchCache(String(url), accept),
          /^(memory|disk)$/,
          `${name}: ${url} ${accept}`,
        );
      }
    }
  }

  const long = (length: number) => `${origin.url}/a.jpg?${'x'.repeat(length)}`;
  const many = {
    widths: [10, 11, 12, 13],
    formats: [],
    fmt: 'webp',
    fallback: long(3_950),
  } as const;
  const parts = await client.warm(images.picture(`${origin.url}/a.jpg?parts`, many));
  t.same(
    parts.map(({ variantCount }) => variantCount),
    [2, 2],
    'long options are sent in several requests',
  );

  const impossible: Record<string, [ImageOptions, RegExp]> = {
    'a density of the client': [{ w: 10, dpr: 'auto' }, /with dpr=auto, client hints decide/],
    'a size of the client': [{ q: 50 }, /without w, h and preset, client hints decide the size/],
    'words of a layer': [
      { w: 10, layer: 'price', 'text.price': 'Sale' },
      /replaces the text of a layer/,
    ],
    'a long option': [{ w: 10, fallback: long(8_150) }, /more than 8192 characters/],
  };
  for (const [name, [options, message]] of Object.entries(impossible)) {
    const src = images.url(`${origin.url}/b.jpg`, options);
    const srcset = `${images.url(`${origin.url}/b.jpg`, { w: 10 })} 10w`;
    const error = await client
      .warm({ sources: [{ srcset }], img: { src } })
      .catch((thrown) => thrown);
    t.ok(error instanceof NotPrewarmableError, name);
    t.match(error.message, message, name);
    t.same(
      error.urls.map(({ url }: { url: string }) => url),
      [src],
      'names only the URL that cannot be warmed',
    );
  }
  const unknown = images.picture(`${origin.url}/b.jpg`, { preset: 'constructor' });
  await t.rejects(client.warm(unknown), { code: 'preset_not_found' });
  const refused = { sources: [], img: { src: `${images.url(`${origin.url}/b.jpg`)}&w=0&utm=1` } };
  const message = /^variants\[0\]\.w must be a whole number from 1 to 10000, or .*, but is 0\.$/;
  await t.rejects(client.warm(refused), { code: 'invalid_request', message });
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
