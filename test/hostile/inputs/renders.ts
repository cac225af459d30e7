import sharp from 'sharp';
import { seeded } from '../../../bench/load/generator.ts';
import type { Layer, Variant } from '../../../pool/variant.ts';
import { readOptions } from '../../../server/image/address.ts';
import { watermarkLayer } from '../../../server/image/layers.ts';
import {
  type ParameterName,
  parameterNames,
  parameters,
} from '../../../server/image/parameters.ts';
import { resolveVariant } from '../../../server/image/resolve-variant.ts';
import type { Project } from '../../../store/projects.ts';
import { ultraHdr } from '../../pool/rendering/ultra-hdr.ts';
import { project } from '../../project.ts';
import { pictures } from './pictures.ts';
import { deepTiff } from './tiff.ts';

/** Inputs of a transform. */
export interface Render {
  readonly what: string;
  /** True for a request that once read freed memory and must succeed. */
  readonly known: boolean;
  readonly source: Uint8Array;
  readonly layers: readonly Uint8Array[];
  readonly variant: Variant;
}

const names = parameterNames.filter((name) => parameters[name].role === 'transform');

/** Requests that read freed memory: sharp attached a profile, or copied a gain map, from there. */
const known = [
  'p3 jpeg?grayscale=&flip=&icc=keep',
  'p3 jpeg?threshold=128&rotate=180&w=50',
  'deep tiff with samples?icc=keep',
  'ultra hdr?hdr=keep',
  'ultra hdr?hdr=keep&w=40&h=60&fp=0,1',
] as const;

/** Returns the sources by name, and a layer's image. */
async function sources(): Promise<ReadonlyMap<string, Buffer>> {
  const all = new Map<string, Buffer>(await pictures());
  const picture = all.get('png') ?? Buffer.alloc(0);
  const open = () => sharp(picture);
  const make: Readonly<Record<string, () => Promise<Buffer>>> = {
    'p3 jpeg': () => open().resize(600, 400).withIccProfile('p3').jpeg().toBuffer(),
    'deep png': () =>
      open().ensureAlpha(0.5).toColourspace('rgb16').withIccProfile('p3').png().toBuffer(),
    'deep tiff with samples': async () => {
      const { icc = Buffer.alloc(0) } = await sharp(picture).metadata();
      return deepTiff(icc, (x, y) => [4 * x, 6 * y, (x * y) % 256]);
    },
    'grey png': () => open().grayscale().toColourspace('b-w').png().toBuffer(),
    'clear webp': () => open().ensureAlpha(0.5).webp().toBuffer(),
    'cmyk jpeg': () =>
      open()
        .toColourspace('cmyk')
        .withIccProfile('cmyk')
        .withMetadata({ orientation: 6 })
        .jpeg()
        .toBuffer(),
    'ultra hdr': async () => ultraHdr(await open().resize(320, 240).png().toBuffer(), 6),
  };
  for (const [name, made] of Object.entries(make)) all.set(name, await made());
  return all;
}

const layers: readonly Layer[] = [
  {
    kind: 'image',
    url: 'https://example.com/mark.png',
    position: 'southeast',
    offsetX: { amount: 3, unit: 'px' },
    offsetY: { amount: 5, unit: '%' },
    tiled: false,
    opacity: 60,
    scale: 30,
    rotate: 20,
    blend: 'multiply',
    width: null,
    height: null,
    radius: null,
    isWatermark: false,
  },
];
const watermark = {
  watermarkEnabled: true,
  watermarkUrl: 'https://example.com/mark.png',
  watermarkOpacity: 50,
};

/** Values that fit every source, for parameters with examples that do not. */
const fitting: Partial<Record<ParameterName, string>> = { crop: '2,1,12,7', page: '0' };

const formats = ['jpeg', 'webp', 'png', 'avif', 'gif', 'auto', 'json', 'lqip'] as const;

/**
 * Returns the fixed requests, then generated requests: first each parameter with its example value,
 * then all pairs of parameters. The seed selects the source, the project settings and additional
 * parameters.
 * @param from number of the first generated request
 */
export async function renders(seed: number, from: number, count: number): Promise<Render[]> {
  const all = await sources();
  const mark = all.get('clear webp') ?? Buffer.alloc(0);
  const hints = { dpr: null, width: null, viewport: null };
  const accepted = ['avif', 'webp'] as const;

  const render = (source: string, query: string, settings: Partial<Project>, drawn = false) => {
    const bytes = all.get(source);
    if (bytes === undefined) throw new Error(`there is no source ${source}`);
    const options = readOptions(new Map(new URLSearchParams(query)));
    const owner = project(settings);
    const shown = [watermarkLayer(owner) ?? [], drawn ? layers : []].flat();
    const variant = resolveVariant(
      options,
      hints,
      accepted,
      owner,
      shown.length === 0 ? null : shown,
    );
    return {
      known: false,
      what: `${source}?${query} ${JSON.stringify(settings)}${drawn ? ' with a layer' : ''}`,
      source: bytes,
      layers: shown.map(() => mark),
      variant,
    };
  };

  const generate = (index: number): Render => {
    const random = seeded(seed + 7_919 * index);
    const round = Math.floor(index / names.length);
    const chosen = [index, index + round].map((at) => names[at % names.length] as ParameterName);
    if (round > 0 && random.below(3) === 0) chosen.push(random.pick(names));
    const query = new URLSearchParams({ w: '70' });
    for (const name of chosen) {
      for (const [key, value] of new URLSearchParams(parameters[name].exampleContext))
        query.set(key, value);
    }
    for (const name of chosen) query.set(name, fitting[name] ?? parameters[name].example);
    if (random.below(2) === 0) query.set('icc', 'keep');
    if (!chosen.includes('fmt')) query.set('fmt', random.pick(formats));
    const settings = {
      ...(random.below(3) === 0 ? { stripMetadata: false } : {}),
      ...(random.below(6) === 0 ? watermark : {}),
    };
    const source = random.pick([...all.keys()]);
    return render(source, String(query), settings, random.below(6) === 0);
  };

  const first = known.map((request) => {
    const [source = '', query = ''] = request.split('?');
    return [{}, { stripMetadata: false }].map((settings) => ({
      ...render(source, query, settings),
      known: true,
    }));
  });
  return [...first.flat(), ...Array.from({ length: count }, (_, at) => generate(from + at))];
}
