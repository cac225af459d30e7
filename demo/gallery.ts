import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { fitModes } from '../contract/image-terms.ts';
import { loadSettings } from '../contract/settings/load.ts';
import { placeholderKinds } from '../pool/variant.ts';
import { fieldsOfKind, type LayerKind, layerKinds } from '../server/image/layer-fields.ts';
import { urlParameters } from '../server/image/overlays.ts';
import { type ParameterName, parameterNames, parameters } from '../server/image/parameters.ts';
import { startTemporaryService } from '../server/local/temporary-service.ts';
import { newProjectId } from '../store/identifiers.ts';
import type { LayerFields } from '../store/project.ts';
import { takeFreePorts } from './free-ports.ts';
import { type GalleryItem, galleryPage } from './gallery-page.ts';
import { serveBodies } from './origin/bodies.ts';
import { type PictureName, picture as readPicture } from './origin/pictures.ts';

/**
 * `npm run docs:gallery`: writes docs/gallery with responses of the service to every parameter's example
 * and some others. Fails on any status other than 200.
 */

const folder = fileURLToPath(new URL('../../docs/gallery/', import.meta.url));

/** A base layer per kind, to which the examples add a field. */
const layerBase: Readonly<Record<LayerKind, LayerFields>> = {
  image: { scale: 25 },
  text: { words: 'Sale:\nall the seas of the north', size: 28, color: 'fff', position: 'center' },
};
const layerExamples = layerKinds.flatMap((kind) =>
  Object.entries(fieldsOfKind(kind)).map(([name, { meaning, example, exampleContext }]) => ({
    kind,
    name,
    meaning,
    fields: {
      ...layerBase[kind],
      ...exampleContext,
      ...(name === 'url' ? {} : { [name]: example }),
    },
  })),
);
const layerName = (kind: LayerKind, field: string) => `${kind}-${field.toLowerCase()}`;

/** The landscape with its end cut off, as after an interrupted download. */
const truncated = 'truncated.jpg';
/** The packaged family's italics, which texts can use only as a project's font. */
const letters = 'letters.woff2';
const italics = '@fontsource-variable/open-sans/files/open-sans-latin-wght-italic.woff2';
type GalleryPicture = PictureName | typeof truncated;

/** Parameters that another picture illustrates better than the landscape. */
const galleryPictures: Partial<Record<ParameterName, GalleryPicture>> = {
  pos: 'coast.jpg',
  bg: 'coast.jpg',
  enlarge: 'pulse.gif',
  crop: 'coast.jpg',
  blurarea: 'coast.jpg',
  pixelatearea: 'coast.jpg',
  trim: 'lantern.png',
  flatten: 'lantern.png',
  rotate: 'emblem.svg',
  page: 'pulse.gif',
  lenient: truncated,
  animated: 'pulse.gif',
  threshold: 'bokeh.webp',
  sharpen: 'bokeh.webp',
  tint: 'portrait-rotated.jpg',
  opacity: 'portrait-rotated.jpg',
};

interface Example {
  readonly title: string;
  readonly text?: string;
  readonly picture: GalleryPicture;
  readonly query: string;
}

const sections: Readonly<Record<string, readonly Example[]>> = {
  Parameters: parameterNames
    .filter((name) => parameters[name].role === 'transform')
    .map((name) => {
      const { exampleContext, example, meaning } = parameters[name];
      const own = example === '' ? name : `${name}=${example}`;
      const query = [exampleContext, own].filter((part) => part !== '').join('&');
      return {
        title: name,
        text: meaning,
        picture: galleryPictures[name] ?? 'landscape.jpg',
        query,
      };
    }),
  'A box of 300 x 200, five fits': fitModes.map((fit) => ({
    title: fit,
    picture: 'portrait-rotated.jpg',
    query: `w=300&h=200&bg=ddd&fit=${fit}`,
  })),
  'Images in the URL': Object.entries(urlParameters)
    .filter(([, { group, needs }]) => group === 'layers' && (needs ?? 'overlay') === 'overlay')
    .filter(([name]) => name.startsWith('overlay'))
    .map(([name, { meaning, example, exampleContext }]) => ({
      title: name,
      text: meaning,
      picture: 'landscape.jpg',
      query: [exampleContext, `${name}=${encodeURIComponent(example)}`].join('&'),
    })),
  Layers: layerExamples.map(({ kind, name, meaning, fields }) => ({
    title: layerName(kind, name),
    text: `\`${JSON.stringify({ [kind]: fields })}\` ${meaning}`,
    picture: 'landscape.jpg',
    query: `w=400&layer=${layerName(kind, name)}`,
  })),
  'Placeholders and facts': placeholderKinds.map((fmt) => ({
    title: fmt,
    picture: 'coast.jpg',
    query: `w=400&fmt=${fmt}`,
  })),
};

/** File prefixes by section. */
const prefixes: Readonly<Record<string, string>> = {
  Parameters: 'parameter',
  'Images in the URL': 'url',
  Layers: 'layer',
};

const origin = await serveBodies(async (target) => {
  if (target === `/${letters}`) return readFile(fileURLToPath(import.meta.resolve(italics)));
  const name = target.slice(1) as GalleryPicture;
  const body = await readPicture(name === truncated ? 'landscape.jpg' : name);
  return name === truncated ? body.subarray(0, body.length * 0.6) : body;
});
await takeFreePorts(loadSettings(process.env));
const project = newProjectId();
const { settings, key, close } = await startTemporaryService({
  program: 'main',
  settings: { SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*' },
  project: { id: project, name: 'Gallery', origin: origin.url, allowedOrigins: ['127.0.0.1'] },
  close: () => origin.close(),
});
try {
  for (const { kind, name, fields } of layerExamples) {
    const image = kind === 'image' ? { url: `${origin.url}/emblem.svg` } : {};
    const font = name === 'fontUrl' ? { fontUrl: `${origin.url}/${letters}` } : {};
    await putLayer(layerName(kind, name), { [kind]: { ...fields, ...image, ...font } });
  }
  await mkdir(folder, { recursive: true });
  for (const old of await readdir(folder)) await rm(`${folder}${old}`);
  const items: Record<string, GalleryItem[]> = {};
  for (const [section, examples] of Object.entries(sections)) {
    const prefix = prefixes[section] ?? 'fit';
    items[section] = [];
    for (const example of examples) items[section].push(await render(prefix, example));
  }
  await writeFile(`${folder}index.html`, galleryPage(items));
  process.stdout.write(`${folder}index.html\n`);
} finally {
  await close();
}

async function putLayer(name: string, layer: object): Promise<void> {
  const path = `${settings.baseUrl}/api/sdk/v1/projects/${project}/layers/${name}`;
  const response = await fetch(path, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(layer),
  });
  if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
}

async function render(
  prefix: string,
  { title, text = '', picture, query }: Example,
): Promise<GalleryItem> {
  const path = `/img/${encodeURIComponent(`${origin.url}/${picture}`)}`;
  const url = `${settings.baseUrl}${path}?project=${project}&${query}`;
  const response = await fetch(url, { headers: { accept: 'image/webp' } });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${query}: ${response.status} ${body}`);
  const type = response.headers.get('content-type') ?? '';
  const address = `/img/https://example.com/${picture}?project=…&${query}`;
  const item = { title, text, address, type, bytes: body.byteLength };
  if (!type.startsWith('image/')) return { ...item, content: body.toString() };
  const file = `${prefix}-${title}.${type.slice(6)}`;
  await writeFile(`${folder}${file}`, body);
  return { ...item, file };
}
