import t from 'tap';
import { createImageUrls, defaultWidths } from '../../sdk/src/index.ts';
import astro, {
  createService,
  imageDelivery,
  type Transform,
} from '../../sdk/src/loaders/astro.ts';
import { createLoader, imageConfig } from '../../sdk/src/loaders/next.ts';
import nuxt from '../../sdk/src/loaders/nuxt.ts';
import { breakpoints, extract, generate, transform } from '../../sdk/src/loaders/unpic.ts';

const settings = {
  baseUrl: 'https://images.example.com',
  project: 'p',
  origin: 'https://shop.example.com',
};
const { parse } = createImageUrls(settings);
const src = 'https://shop.example.com/a.jpg';

t.test('loads images in Next', async (t) => {
  const loader = createLoader({ ...settings, options: { q: 60, pos: 'top' } });
  t.same(parse(loader({ src: '/a.jpg', width: 640 })), {
    src,
    options: { dpr: 1, enlarge: true, fmt: 'auto', pos: 'top', q: 60, w: 640 },
  });
  t.equal(parse(loader({ src, width: 640, quality: 75 }))?.options.q, 75);
  const square = createLoader({ ...settings, options: { ar: '1:1' } });
  t.match(parse(square({ src, width: 640 }))?.options, { ar: '1:1', fit: 'cover', w: 640 });
  const plain = createLoader({ ...settings, options: { enlarge: false }, passthrough: () => true });
  t.equal(plain({ src: '/a.jpg', width: 640 }), '/a.jpg#w=640', 'differs by width, as Next wants');
  t.same(imageConfig('./loader.js'), {
    loader: 'custom',
    loaderFile: './loader.js',
    deviceSizes: defaultWidths,
    imageSizes: [40, 80, 160],
  });
  const narrow = imageConfig('./loader.js', { maxWidth: 1_000 });
  t.same(narrow.deviceSizes, [320, 480, 640, 828, 1_000]);
  t.same(imageConfig('./loader.js', { maxWidth: 100 }).imageSizes, [40, 80]);
});

t.test('loads images in Nuxt', async (t) => {
  const { getImage } = nuxt();
  const toOptions = (modifiers: Parameters<typeof getImage>[1]['modifiers']) =>
    parse(getImage('/a.jpg', { ...settings, modifiers }).url)?.options;
  t.same(toOptions({ width: 400 }), { dpr: 1, enlarge: true, fmt: 'auto', w: 400 });
  t.same(
    toOptions({ width: '400', height: 200.4, quality: 50, format: 'webp', background: 'tomato' }),
    {
      bg: 'tomato',
      dpr: 1,
      enlarge: true,
      fit: 'cover',
      fmt: 'webp',
      h: 200,
      q: 50,
      w: 400,
    },
  );
  t.match(toOptions({ width: 4, enlarge: false, blur: 3, fp: [0, 1] }), {
    enlarge: false,
    blur: 3,
    fp: [0, 1],
  });
  t.equal(nuxt(), nuxt(), 'the provider is one, as of defineProvider');
});

t.test('loads images in unpic', async (t) => {
  const operations = { width: 300, height: 200, quality: 50, format: 'avif', blur: 2 } as const;
  const url = generate(src, operations, settings);
  t.same(extract(url, settings), {
    src,
    operations: { ...operations, fit: 'cover' },
    options: settings,
  });
  t.equal(extract(src, settings), null);
  t.equal(transform(src, operations, settings), url);
  t.equal(transform(new URL(src), operations, settings), url);
  const smaller = transform(url, { width: 30, height: 20 }, settings);
  t.match(extract(smaller, settings), { src, operations: { width: 30, height: 20, blur: 2 } });
  t.throws(() => transform(src, operations), TypeError);
  const signed = transform(src, operations, {
    ...settings,
    sign: (unsigned) => `${unsigned}&sig=a`,
  });
  t.equal(signed, `${url}&sig=a`);
  t.same(breakpoints(), defaultWidths);
  t.same(breakpoints({ sourceWidth: 700 }), [320, 480, 640, 700]);
  t.same(
    breakpoints({ sourceWidth: 1_700, sourceHeight: 250, ratio: 2, maxWidth: 1_000 }),
    [320, 480, 500],
  );
});

t.test('loads images in Astro', async (t) => {
  const config = { service: { config: settings } };
  const imported = { src: '/_astro/a.jpg', width: 900, height: 600, format: 'jpg' };
  const described = (options: Transform) =>
    astro.getSrcSet(options, config).map((value) => {
      const parsed = parse(astro.getURL(value.transform, config));
      return [value.descriptor, parsed?.options.w, parsed?.options.h];
    });

  await t.test(
    'makes an imported image absolute and offers no candidate above its width',
    async (t) => {
      const options = { src: imported, width: 900, height: 600, widths: [320, 640, 1_080] };
      t.same(described(options), [
        ['320w', 320, undefined],
        ['640w', 640, undefined],
        ['900w', 900, undefined],
      ]);
      t.same(parse(astro.getURL({ src: imported, format: 'avif', quality: 'high' }, config)), {
        src: 'https://shop.example.com/_astro/a.jpg',
        options: { dpr: 1, fmt: 'avif', q: 80, w: 900 },
      });
    },
  );

  await t.test('cuts another ratio, and ends densities with the source', async (t) => {
    const square = { src: imported, width: 250, height: 250 };
    t.same(described({ ...square, densities: [1, '2x', 3] }), [
      ['1x', 250, 250],
      ['2x', 500, 500],
      ['2.4x', 600, 600],
    ]);
    const [value] = astro.getSrcSet({ ...square, format: 'webp', widths: [100] }, config);
    t.same(value?.attributes, { type: 'image/webp' });
  });

  await t.test('returns a remote image with the stated pixels', async (t) => {
    const options = { src, width: 300, height: 200, fit: 'contain', position: 'top' };
    const parsed = parse(astro.getURL(options, config));
    t.match(parsed?.options, { w: 300, h: 200, fit: 'contain', pos: 'top', enlarge: true });
    t.throws(() => astro.validateOptions({ src }, config), /needs width and height/);
    t.throws(() => astro.validateOptions({ src, width: 10 }, config), TypeError);
    t.equal(astro.validateOptions(options, config), options);
  });

  await t.test('writes the size, but no options, into attributes', async (t) => {
    const options = { src: imported, width: 300, alt: 'A', quality: 3, widths: [1], class: 'b' };
    t.same(astro.getHTMLAttributes(options, config), {
      alt: 'A',
      class: 'b',
      loading: 'lazy',
      decoding: 'async',
      width: 300,
      height: 200,
    });
    const eager = { src: imported, loading: 'eager', layout: 'full-width' };
    t.match(astro.getHTMLAttributes(eager, config), { loading: 'eager', layout: undefined });
  });

  await t.test("keeps vectors, and a custom service's options", async (t) => {
    const vector = { src: { ...imported, src: '/a.svg', format: 'svg' }, widths: [10] };
    t.equal(astro.getURL(vector, config), '/a.svg');
    t.same(astro.getSrcSet(vector, config), []);
    const service = createService({ ...settings, sign: (url) => `${url}&sig=a` });
    t.match(service.getURL({ src: imported }), /&sig=a$/);
  });

  await t.test("keeps Astro's service in development", async (t) => {
    const changes: object[] = [];
    const setup = (command: string) =>
      imageDelivery({ baseUrl: 'https://a.example', project: 'p' }).hooks['astro:config:setup']({
        command,
        config: { site: 'https://shop.example.com' },
        updateConfig: (change) => changes.push(change),
      });
    setup('dev');
    t.same(changes, []);
    setup('build');
    t.match(changes, [
      {
        image: {
          service: {
            entrypoint: '@image-delivery/sdk/astro',
            config: {
              origin: 'https://shop.example.com',
              baseUrl: 'https://a.example',
              project: 'p',
            },
          },
          breakpoints: defaultWidths,
        },
      },
    ]);
  });
});
