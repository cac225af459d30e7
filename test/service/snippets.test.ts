import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import sharp from 'sharp';
import t from 'tap';
import { createService, type ImageConfig } from '../../sdk/src/loaders/astro.ts';
import { snippets } from '../../server/console/page/playground/snippets.ts';
import { rootPath } from '../root.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';
import { snippetFacts } from './snippet-facts.ts';

t.test("generates the playground's code snippets", async (t) => {
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
  origin.serve(
    '/mark.svg',
    Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10" fill="red"/></svg>',
    ),
  );
  const frames = await Promise.all([
    picture(60, 60, 'png'),
    picture(60, 60, 'png').then((png) => sharp(png).negate({ alpha: false }).png().toBuffer()),
  ]);
  origin.serve(
    '/pulse.gif',
    await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer(),
  );
  const folder = await temporaryFolder(t);

  const load = async (url: string, accept = 'image/*') => {
    const response = await fetch(url, { headers: { accept } });
    t.equal(response.status, 200, url);
    const { width = 0, height = 0 } = await sharp(await response.arrayBuffer()).metadata();
    return { width, height, type: response.headers.get('content-type') };
  };
  /** Returns the playground's snippet for an image. */
  const codeFor = async (name: string, options: Record<string, string>, dpr = 1) => {
    const wanted = { source: `${origin.url}/${name}`, project, options };
    const known = await snippetFacts(serviceUrl, wanted, { site: origin.url, dpr });
    const all = snippets(serviceUrl, wanted, 'image/*', known);
    return (title: string) => all.find((snippet) => snippet.title === title)?.code ?? '';
  };
  await mkdir(join(folder, 'node_modules/@image-delivery'), { recursive: true });
  await symlink(join(rootPath, 'sdk'), join(folder, 'node_modules/@image-delivery/sdk'));
  let modules = 0;
  /** Imports a module and returns its exports. */
  const imported = async (code: string) => {
    const file = join(folder, `module-${modules++}.mjs`);
    await writeFile(file, code);
    return import(pathToFileURL(file).href);
  };
  /** Returns the loader in the Next.js snippet. */
  const loaderIn = async (code: string) =>
    (await imported(code.split('// next.config.mjs')[0] ?? '')).default;

  await t.test('HTML: matches file sizes to their descriptors', async (t) => {
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
      ['small.jpg', { w: '400' }, 1, '400x240', '200w 400w 500w'],
      ['hero.jpg', { w: '400', ar: '2:1' }, 1, '400x200', '200w 400w 800w'],
      ['small.jpg', { h: '400', ar: '1' }, 1, '300x300', '200w 300w'],
      ['small.jpg', { w: '400', h: '400' }, 1, '300x300', '200w 300w'],
      ['small.jpg', { w: '400', enlarge: '1' }, 1, '400x240', '200w 400w 800w'],
      ['small.jpg', { h: '200' }, 1, '333x200', '1x 1.5x'],
      ['small.jpg', { h: '400', dpr: '2' }, 2, '500x300', ''],
      ['small.jpg', { w: '50p', dpr: '2' }, 2, '250x150', '1x 2x'],
      ['small.jpg', { w: '40p' }, 1, '200x120', '1x 2x'],
      ['small.jpg', {}, 1, '500x300', ''],
      ['hero.jpg', { w: '800', crop: '0,0,600,300' }, 1, '600x300', '400w 600w'],
      ['hero.jpg', { w: '400', rotate: '90' }, 1, '400x640', '200w 400w 800w'],
      ['small.jpg', { w: '400', rotate: '12' }, 1, '400x288', '200w 400w 551w'],
      ['hero.jpg', { w: '200', trim: '1' }, 1, '200x125', '100w 200w 400w'],
      ['mark.svg', { w: '100' }, 1, '100x50', '50w 100w 200w'],
    ] as const;
    for (const [name, options, dpr, size, descriptors] of cases) {
      const at = `${name} ${new URLSearchParams(options)}`;
      const code = (await codeFor(name, options, dpr))('HTML').replaceAll('&amp;', '&');
      const [width = 0, height = 0] = size.split('x').map(Number);
      const fallback = name.endsWith('g') && !name.endsWith('.jpg') ? 'png' : 'jpeg';
      t.match(code, `width="${width}" height="${height}"`, at);
      const [, src = ''] = / src="([^"]*)"/.exec(code) ?? [];
      t.match(await load(src), { width, height, type: `image/${fallback}` }, at);
      const sets = [...code.matchAll(/srcset="([^"]*)"/g)].map(([, set = '']) =>
        set.trim().split(/,\s+/),
      );
      t.equal(sets.length, descriptors === '' ? 2 : 3, at);
      const types = ['avif', 'webp', ...(descriptors === '' ? [] : [fallback])];
      for (const [index, type] of types.entries()) {
        const files = (sets[index] ?? []).map((file) => file.split(' '));
        if (descriptors === '') {
          t.match(await load(files[0]?.[0] ?? ''), { width, height, type: `image/${type}` }, at);
          continue;
        }
        t.equal(files.map(([, descriptor]) => descriptor).join(' '), descriptors, at);
        for (const [url = '', descriptor = ''] of files) {
          const step = descriptor.endsWith('x') ? width : 1;
          const pixels = Math.round(Number.parseFloat(descriptor) * step);
          const file = await load(url);
          t.match(file, { type: `image/${type}`, width: pixels }, `${url} ${descriptor}`);
          t.ok(Math.abs(file.height - (pixels * height) / width) <= 1, url);
        }
      }
    }
  });

  await t.test('SDK: generates the image, and a picture element for all screens', async (t) => {
    const cases = [
      ['hero.jpg', { w: '400', h: '300', q: '40', flip: '1' }, '400x300', [200, 400, 800]],
      ['small.jpg', { w: '400' }, '400x240', [200, 400, 500]],
      ['mark.svg', { w: '100' }, '100x50', [50, 100, 200]],
      ['small.jpg', { w: '800', crop: '0,0,400,200', fmt: 'webp' }, '400x200', [400]],
      ['glass.png', { h: '200', v: '007' }, '300x200', null],
      ['hero.jpg', {}, '1600x1000', null],
    ] as const;
    for (const [name, options, size, widths] of cases) {
      const code = (await codeFor(name, options))('SDK');
      const { url, attributes: picture } = await imported(
        `${code}\nexport { url };\nexport const attributes = ${widths === null ? null : '{ sources, img }'};`,
      );
      const [width, height] = size.split('x').map(Number);
      t.match(await load(url), { width, height }, code);
      if (widths === null) {
        t.notMatch(code, 'picture');
        continue;
      }
      const sets = [...picture.sources.map((source: { srcset: string }) => source.srcset)];
      for (const set of [...sets, picture.img.srcset]) {
        const files = set.split(', ').map((file: string) => file.split(' '));
        t.same(
          files.map(([, descriptor]: string[]) => descriptor),
          widths.map((candidateWidth) => `${candidateWidth}w`),
        );
        for (const [index, [file]] of files.entries()) {
          t.match(await load(file), { width: widths[index] }, file);
        }
      }
      t.match(picture.img.sizes, /^\(max-width: \d+px\) 100vw, \d+px$/);
      t.match(picture.img, { width, height }, 'the box in the layout');
    }
  });

  await t.test('signed: generates the same with signatures', async (t) => {
    const code = (await codeFor('small.jpg', { w: '400' }))('Signed');
    process.env['IMAGES_SECRET'] = 'a secret';
    t.teardown(() => delete process.env['IMAGES_SECRET']);
    const exported = await imported(`${code}\nexport { url, sources, img };`);
    for (const text of [exported.url, exported.img.srcset, exported.sources[0].srcset]) {
      for (const candidate of text.split(', '))
        t.match(candidate, /&exp=\d+&sig=[\w-]{43}(?: \d+w)?$/);
    }
  });

  await t.test("keeps an animation's frames", async (t) => {
    const code = await codeFor('pulse.gif', { w: '40' });
    for (const [title, fallback] of [
      ['HTML', 'gif'],
      ['SDK', 'gif'],
    ] as const) {
      t.notMatch(code(title), /avif/, title);
      t.match(code(title), fallback);
    }
    const { sources, img } = await imported(`${code('SDK')}\nexport { sources, img };`);
    for (const set of [sources[0].srcset, img.srcset]) {
      const [url = ''] = set.split(' ');
      const body = await (await fetch(url, { headers: { accept: '*/*' } })).arrayBuffer();
      t.equal((await sharp(body, { pages: -1 }).metadata()).pages, 2, url);
    }
  });

  await t.test('offers nothing to copy before the facts arrive', async (t) => {
    const request = { source: `${origin.url}/hero.jpg`, project, options: { w: '400' } };
    const withCode = (known: 'loading' | 'nothing') =>
      snippets(serviceUrl, request, 'image/*', known).flatMap(({ title, code }) =>
        code === null ? [] : title,
      );
    t.same(withCode('loading'), ['curl']);
    t.same(withCode('nothing'), ['SDK', 'Signed', 'curl']);
  });

  await t.test('Astro: generates the integration, and a component with its size', async (t) => {
    const options = { w: '400', h: '300', q: '40', pos: 'west', flip: '1' };
    const code = (await codeFor('hero.jpg', options))('Astro');
    const config = code.replace(
      /^import .* from 'astro\/config';$/m,
      'const defineConfig = (it) => it;',
    );
    const { integrations, site } = (await imported(config)).default;
    t.equal(site, origin.url);
    const [integration] = integrations;
    t.equal(integration.name, '@image-delivery/sdk');
    let service: { readonly config: ImageConfig['service']['config'] } | undefined;
    integration.hooks['astro:config:setup']({
      command: 'build',
      config: { site },
      updateConfig: ({ image }: { image: { service: typeof service } }) => {
        service = image.service;
      },
    });
    const tag = /<Image ([^>]*) \/>/.exec(code)?.[1] ?? '';
    const attributes = [...tag.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    const { width, height, ...given } = Object.fromEntries(attributes);
    t.match(code, 'does not support flip');
    t.same(given, {
      src: `${origin.url}/hero.jpg`,
      layout: 'constrained',
      quality: '40',
      position: 'west',
      alt: '',
    });
    const component = { ...given, width: Number(width), height: Number(height) };
    const { getURL, getSrcSet } = createService();
    const configured = { service: { config: service?.config ?? {} } };
    t.match(await load(getURL(component, configured)), { width: 400, height: 300 });
    for (const { transform, descriptor } of getSrcSet(
      { ...component, widths: [400, 800] },
      configured,
    )) {
      const image = await load(getURL({ ...component, ...transform }, configured));
      t.equal(`${image.width}w`, descriptor);
    }
  });

  await t.test("unpic: generates a component with the source's widths", async (t) => {
    for (const [name, options, size, widest] of [
      ['hero.jpg', { w: '400', h: '300', q: '40', flip: '1' }, [400, 300], 1333],
      ['small.jpg', { w: '400' }, [400, 240], 500],
    ] as const) {
      const code = (await codeFor(name, options))('unpic');
      const { code: module } = await esbuild.transform(
        code.replace(
          /^import \{ Image \}.*$/m,
          'const Image = null, React = { createElement: (_, it) => it };',
        ),
        { loader: 'jsx' },
      );
      const { Picture } = await imported(module);
      const {
        src,
        width,
        height,
        transformer,
        options: settings,
        operations,
        breakpoints,
      } = Picture();
      t.same([width, height], size);
      t.equal(breakpoints.at(-1), widest);
      for (const w of [width, widest]) {
        const sides = { width: w, height: Math.round((w * height) / width) };
        const url = transformer(src, { ...operations, ...sides }, settings);
        t.match(await load(url), sides, url);
      }
    }
  });

  await t.test('Next.js: generates local images, the height and the quality', async (t) => {
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
    for (const loaded of [loader, free]) {
      t.equal(loaded({ src: '/new.jpg', width: 640 }), '/new.jpg#w=640', 'not published yet');
    }
    const config = await imported(code.split('// next.config.mjs')[1] ?? '');
    t.match(config.default, { images: { loader: 'custom', loaderFile: './image-loader.js' } });
  });

  await t.test('Nuxt: generates local images, the size and the quality', async (t) => {
    const code = (await codeFor('hero.jpg', { w: '400', h: '300', q: '40', dpr: '2' }))('Nuxt');
    t.match(code, 'width="400" height="300"');
    const { default: config } = await imported(
      `const defineNuxtConfig = (config) => config;\n${code}`,
    );
    const { imageDelivery } = config.image.providers;
    const { default: provider } = await imported(
      `export { default } from '${imageDelivery.provider}';`,
    );
    // Merge an image's modifiers into its provider's options like Nuxt.
    const toUrl = (modifiers: object): string => {
      const { options } = imageDelivery;
      const all = { ...options, modifiers: { ...options.modifiers, ...modifiers } };
      return provider().getImage('/hero.jpg', all).url;
    };
    t.match(await load(toUrl({ width: 640, height: 480 })), { width: 640, height: 480 });
    t.equal(new URL(toUrl({ width: 640 })).searchParams.get('q'), '40');
    t.same(new URL(toUrl({ quality: 90 })).searchParams.getAll('q'), ['90']);
  });
});
