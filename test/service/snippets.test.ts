import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import t from 'tap';
import { snippets } from '../../server/console/page/snippets.ts';
import { rootPath } from '../root.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';

t.test('the code snippets of the playground', async (t) => {
  const { url: serviceUrl, origin, project } = await startFrontEnd(t);
  origin.serve('/hero.jpg', await picture(1600, 1000));
  origin.serve('/small.jpg', await picture(500, 300));
  origin.serve(
    '/glass.png',
    await sharp(await picture(900, 600))
      .ensureAlpha(0.5)
      .png()
      .toBuffer(),
  );
  const folder = await temporaryFolder(t);

  const load = async (url: string, accept = 'image/*') => {
    const response = await fetch(url, { headers: { accept } });
    t.equal(response.status, 200, url);
    const { width = 0, height = 0 } = await sharp(await response.arrayBuffer()).metadata();
    return { width, height, type: response.headers.get('content-type') };
  };
  /** The snippet of the playground for a picture. */
  const codeFor = async (name: string, options: Record<string, string>, dpr = 1) => {
    const wanted = { source: `${origin.url}/${name}`, project, options };
    const query = new URLSearchParams({ project, ...options });
    const result = await load(`${serviceUrl}/img/${encodeURIComponent(wanted.source)}?${query}`);
    const source = { pages: 1, hasAlpha: name.endsWith('.png') };
    const all = snippets(serviceUrl, wanted, 'image/*', { site: origin.url, result, dpr, source });
    return (title: string) => all.find((one) => one.title === title)?.code ?? '';
  };
  await mkdir(join(folder, 'node_modules/@image-delivery'), { recursive: true });
  await symlink(join(rootPath, 'sdk'), join(folder, 'node_modules/@image-delivery/sdk'));
  let modules = 0;
  /** The exports of a module. */
  const imported = async (code: string) => {
    const file = join(folder, `module-${modules++}.mjs`);
    await writeFile(file, code);
    return import(pathToFileURL(file).href);
  };
  /** The loader of the snippet for Next.js. */
  const loaderIn = async (code: string) =>
    (await imported(code.split('// next.config.mjs')[0] ?? '')).default;

  await t.test('HTML: files have the sizes of their descriptors', async (t) => {
    const cases = [
      ['hero.jpg', { w: '400' }, 1, '400x250', '200w 400w 800w'],
      ['hero.jpg', { w: '400', dpr: '2' }, 2, '400x250', '200w 400w 800w'],
      ['hero.jpg', { w: '300', dpr: '3' }, 3, '300x188', '150w 300w 600w 900w'],
      ['hero.jpg', { w: '300', h: '300', q: '40' }, 1, '300x300', '150w 300w 600w'],
      ['small.jpg', { w: '400', dpr: '2' }, 2, '400x240', '200w 400w 500w'],
      ['small.jpg', { w: '800' }, 1, '500x300', '400w 500w'],
      ['glass.png', { w: '200' }, 1, '200x133', '100w 200w 400w'],
      ['hero.jpg', { h: '200', dpr: '2' }, 2, '320x200', '1x 2x'],
      ['hero.jpg', { w: '200', extend: '0,50,0,50' }, 1, '300x125', '1x 2x'],
      ['hero.jpg', { w: '400', h: '200', fit: 'inside', dpr: '2' }, 2, '320x200', '1x 2x'],
    ] as const;
    for (const [name, options, dpr, size, descriptors] of cases) {
      const at = `${name} ${new URLSearchParams(options)}`;
      const code = (await codeFor(name, options, dpr))('HTML').replaceAll('&amp;', '&');
      const [width = 0, height = 0] = size.split('x').map(Number);
      const fallback = name.endsWith('.png') ? 'png' : 'jpeg';
      t.match(code, `width="${width}" height="${height}"`, at);
      const [, src = ''] = / src="([^"]*)"/.exec(code) ?? [];
      t.match(await load(src), { width, height, type: `image/${fallback}` }, at);
      const sets = [...code.matchAll(/srcset="([^"]*)"/g)].map(([, set = '']) =>
        set.trim().split(/,\s+/),
      );
      t.equal(sets.length, 3, at);
      for (const [index, type] of ['avif', 'webp', fallback].entries()) {
        const files = (sets[index] ?? []).map((file) => file.split(' '));
        t.equal(files.map(([, descriptor]) => descriptor).join(' '), descriptors, at);
        for (const [url = '', descriptor = ''] of files) {
          const pixels = Number.parseInt(descriptor, 10) * (descriptor.endsWith('x') ? width : 1);
          const file = await load(url);
          t.match(file, { type: `image/${type}`, width: pixels }, `${url} ${descriptor}`);
          t.ok(Math.abs(file.height - (pixels * height) / width) <= 1, url);
        }
      }
    }
  });

  await t.test('SDK: the image, and a picture for all screens', async (t) => {
    const cases = [
      ['hero.jpg', { w: '400', h: '300', q: '40', flip: '1' }, '400x300', [200, 400, 800]],
      ['small.jpg', { w: '800', crop: '0,0,400,200', fmt: 'webp' }, '400x200', [400]],
      ['glass.png', { h: '200', v: '007' }, '300x200', null],
      ['hero.jpg', {}, '1600x1000', null],
    ] as const;
    for (const [name, options, size, widths] of cases) {
      const code = (await codeFor(name, options))('SDK');
      const { url, picture } = await imported(
        `${code}\nexport { url };\nexport const picture = ${widths === null ? null : '{ sources, img }'};`,
      );
      const [width, height] = size.split('x').map(Number);
      t.match(await load(url), { width, height }, code);
      if (widths === null) {
        t.notMatch(code, 'picture');
        continue;
      }
      const sets = [...picture.sources.map((one: { srcset: string }) => one.srcset)];
      for (const set of [...sets, picture.img.srcset]) {
        const files = set.split(', ').map((file: string) => file.split(' '));
        t.same(
          files.map(([, descriptor]: string[]) => descriptor),
          widths.map((one) => `${one}w`),
        );
        for (const [index, [file]] of files.entries()) {
          t.match(await load(file), { width: widths[index] }, file);
        }
      }
      t.match(picture.img.sizes, /^\(max-width: \d+px\) 100vw, \d+px$/);
    }
  });

  await t.test('Next.js: local images, the height and the quality', async (t) => {
    const code = (await codeFor('hero.jpg', { w: '400', h: '300', q: '40', dpr: '2' }))('Next.js');
    const loader = await loaderIn(code);
    const { searchParams } = new URL(loader({ src: '/hero.jpg', width: 640 }));
    t.equal(searchParams.get('q'), '40');
    t.match(await load(loader({ src: '/hero.jpg', width: 640 })), { width: 640, height: 480 });
    t.match(await load(loader({ src: `${origin.url}/hero.jpg`, width: 64 })), { width: 64 });
    const better = new URL(loader({ src: '/hero.jpg', width: 640, quality: 90 }));
    t.same(better.searchParams.getAll('q'), ['90'], 'the quality of the component');
    const free = await loaderIn((await codeFor('hero.jpg', { w: '400' }))('Next.js'));
    t.match(await load(free({ src: `${origin.url}/hero.jpg`, width: 640 })), { height: 400 });
    const { NODE_ENV = 'test' } = process.env;
    t.teardown(() => {
      process.env['NODE_ENV'] = NODE_ENV;
    });
    process.env['NODE_ENV'] = 'development';
    for (const one of [loader, free]) {
      t.equal(one({ src: '/new.jpg', width: 640 }), '/new.jpg#w=640', 'not published yet');
    }
    const config = await imported(code.split('// next.config.mjs')[1] ?? '');
    t.match(config.default, { images: { loader: 'custom', loaderFile: './image-loader.js' } });
  });

  await t.test('Nuxt: local images, the size and the quality', async (t) => {
    const code = (await codeFor('hero.jpg', { w: '400', h: '300', q: '40', dpr: '2' }))('Nuxt');
    t.match(code, 'width="400" height="300"');
    const { default: config } = await imported(
      `const defineNuxtConfig = (config) => config;\n${code}`,
    );
    const { imageDelivery } = config.image.providers;
    const { default: provider } = await imported(
      `export { default } from '${imageDelivery.provider}';`,
    );
    // As Nuxt merges the modifiers of an image into the options of its provider.
    const urlOf = (modifiers: object): string => {
      const { options } = imageDelivery;
      const all = { ...options, modifiers: { ...options.modifiers, ...modifiers } };
      return provider().getImage('/hero.jpg', all).url;
    };
    t.match(await load(urlOf({ width: 640, height: 480 })), { width: 640, height: 480 });
    t.equal(new URL(urlOf({ width: 640 })).searchParams.get('q'), '40');
    t.same(new URL(urlOf({ quality: 90 })).searchParams.getAll('q'), ['90']);
  });
});
