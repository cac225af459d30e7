import sharp, { type Sharp } from 'sharp';

/** Every format that the service reads, and the encoders' variants that decoders treat differently. */
export const kinds = [
  'jpeg',
  'progressive jpeg',
  'png',
  'palette png',
  'webp',
  'lossless webp',
  'animated webp',
  'avif',
  'gif',
  'animated gif',
  'tiff',
  'tiled tiff',
  'svg',
] as const;

export type Kind = (typeof kinds)[number];

/** One intact small picture of each kind, with metadata where the format has some. */
export async function pictures(): Promise<ReadonlyMap<Kind, Buffer>> {
  const all: Readonly<Record<Kind, () => Promise<Buffer>>> = {
    jpeg: () => drawn(1).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    'progressive jpeg': () => drawn(1).keepMetadata().jpeg({ progressive: true }).toBuffer(),
    png: () => drawn(1).withIccProfile('p3').png().toBuffer(),
    'palette png': () => drawn(1).png({ palette: true, progressive: true }).toBuffer(),
    webp: () => drawn(1).withMetadata({ orientation: 3 }).webp().toBuffer(),
    'lossless webp': () => drawn(1).webp({ lossless: true }).toBuffer(),
    'animated webp': () => drawn(3).webp().toBuffer(),
    avif: () => drawn(1).avif({ effort: 0 }).toBuffer(),
    gif: () => drawn(1).gif().toBuffer(),
    'animated gif': () => drawn(3).gif().toBuffer(),
    tiff: () => drawn(1).tiff({ compression: 'lzw' }).toBuffer(),
    'tiled tiff': () => drawn(1).tiff({ tile: true, pyramid: true }).toBuffer(),
    svg: async () => Buffer.from(svg),
  };
  const made = kinds.map(async (kind) => [kind, await all[kind]()] as const);
  return new Map(await Promise.all(made));
}

const size = { width: 96, height: 64 };

/** Pixels with edges and gradients, so that an encoder uses all that it has. */
function drawn(frames: number): Sharp {
  const { width, height } = size;
  const pixels = Buffer.alloc(width * height * frames * 3);
  for (let at = 0; at < pixels.length; at++) {
    const x = Math.floor(at / 3) % width;
    const y = Math.floor(at / 3 / width);
    pixels[at] = (x * (at % 3) * 3 + y * 2) ^ ((x >> 4) * 40);
  }
  const raw = { width, height: height * frames, channels: 3, pageHeight: height } as const;
  return sharp(pixels, { raw });
}

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="64" viewBox="0 0 96 64">
<defs><linearGradient id="g"><stop offset="0" stop-color="#08f"/><stop offset="1" stop-color="red"/></linearGradient>
<filter id="f"><feGaussianBlur stdDeviation="2"/></filter></defs>
<style>.a { fill: url(#g); opacity: 0.5 }</style>
<rect class="a" width="96" height="64"/><circle cx="30" cy="30" r="20" filter="url(#f)" fill="gold"/>
<path d="M10 10 L80 20 Q40 60 10 50 Z" stroke="black" stroke-width="2" fill="none"/>
<g transform="rotate(10 48 32)"><text x="20" y="40" font-size="12">text</text></g></svg>`;
