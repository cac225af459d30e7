import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ParameterName, parameterNames, parameters } from '../server/image/parameters.ts';
import { deploy } from './deployment.ts';
import { galleryPage, type Shown } from './gallery/page.ts';
import { startOrigin } from './origin/origin.ts';
import type { PictureName } from './origin/pictures.ts';

/**
 * Makes docs/gallery: every parameter's example and some more, asked of the real service. Whatever
 * is not answered with 200 ends it.
 */

const folder = fileURLToPath(new URL('../../docs/gallery/', import.meta.url));
const accept = 'image/webp';

/** Where another picture than the landscape shows more. */
const pictureOf: Partial<Record<ParameterName, PictureName>> = {
  pos: 'coast.jpg',
  bg: 'coast.jpg',
  enlarge: 'pulse.gif',
  crop: 'coast.jpg',
  trim: 'lantern.png',
  flatten: 'lantern.png',
  rotate: 'emblem.svg',
  animated: 'pulse.gif',
  threshold: 'bokeh.webp',
  sharpen: 'bokeh.webp',
  tint: 'portrait-rotated.jpg',
  opacity: 'portrait-rotated.jpg',
};

interface Wish {
  readonly title: string;
  readonly text: string;
  readonly picture: PictureName;
  readonly query: string;
}

const fits = ['cover', 'contain', 'fill', 'inside', 'outside'] as const;
const wishes: Readonly<Record<string, readonly Wish[]>> = {
  Parameters: parameterNames.map((name) => {
    const { beside, example, meaning } = parameters[name];
    const own = example === '' ? name : `${name}=${example}`;
    const query = [beside, own].filter((part) => part !== '').join('&');
    return { title: name, text: meaning, picture: pictureOf[name] ?? 'landscape.jpg', query };
  }),
  'A box of 300 x 200, five fits': fits.map((fit) => ({
    title: fit,
    text: '',
    picture: 'portrait-rotated.jpg',
    query: `w=300&h=200&bg=ddd&fit=${fit}`,
  })),
  'Instead of the picture': (['blurhash', 'thumbhash', 'lqip', 'json'] as const).map((fmt) => ({
    title: fmt,
    text: '',
    picture: 'coast.jpg',
    query: `w=400&fmt=${fmt}`,
  })),
};

const origin = await startOrigin();
const service = await deploy();
try {
  await mkdir(folder, { recursive: true });
  for (const old of await readdir(folder)) await rm(`${folder}${old}`);
  const sections: Record<string, Shown[]> = {};
  for (const [section, entries] of Object.entries(wishes)) {
    const shown: Shown[] = [];
    for (const wish of entries) shown.push(await show(section, wish));
    sections[section] = shown;
  }
  await writeFile(`${folder}index.html`, galleryPage(sections));
  process.stdout.write(`${folder}index.html\n`);
} finally {
  await service.close();
  await origin.close();
}

async function show(section: string, { title, text, picture, query }: Wish): Promise<Shown> {
  const path = `/img/${encodeURIComponent(`${origin.url}/${picture}`)}`;
  const url = `${service.url}${path}?project=${service.project}&${query}`;
  const response = await fetch(url, { headers: { accept } });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${query}: ${response.status} ${body}`);
  const type = response.headers.get('content-type') ?? '';
  const address = `/img/https://example.com/${picture}?project=…&${query}`;
  const shown = { title, text, address, type, bytes: body.byteLength };
  if (!type.startsWith('image/')) return { ...shown, content: body.toString() };
  const file = `${section === 'Parameters' ? 'parameter' : 'fit'}-${title}.${type.slice(6)}`;
  await writeFile(`${folder}${file}`, body);
  return { ...shown, file };
}
