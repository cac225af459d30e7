import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { le32, withPngChunks } from './chunks.ts';
import { type Carrier, createResource, dataSet, embedded, type Metadata } from './embed.ts';
import { createTiff, pointer, shorts, text, tiffPicture } from './tiff.ts';

/** Every supported format, and variants of encoders that decoders treat differently. */
const pictureKinds = [
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
  'described tiff',
  'bmp',
  'ico',
  'bitmap ico',
  'svg',
] as const;

export type PictureKind = (typeof pictureKinds)[number];

/** Returns an intact small image of each kind, with all metadata of its format. */
export async function pictures(): Promise<ReadonlyMap<PictureKind, Buffer>> {
  const plain = await plainPictures();
  const icc = (await sharp(plain.get('png')).metadata()).icc ?? Buffer.alloc(0);
  const made = [...plain].map(([kind, picture]) => {
    const carrier = described[kind];
    const whole = carrier ? embedded[carrier](picture, { ...texts, icc }) : picture;
    return [kind, kind === 'palette png' ? withPngChunks(whole, pngTexts) : whole] as const;
  });
  return new Map(made);
}

/** Returns an intact small image of each kind, with little metadata. */
export async function plainPictures(): Promise<ReadonlyMap<PictureKind, Buffer>> {
  const all: Readonly<Record<PictureKind, () => Promise<Buffer>>> = {
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
    'described tiff': async () => createTiff(tiffPicture([])),
    bmp: async () => createBmp(16, 16, await drawn(1).resize(16, 16).raw().toBuffer()),
    ico: async () => createIco(await drawn(1).resize(16).png().toBuffer()),
    'bitmap ico': async () => createIco((await all.bmp()).subarray(14)),
    svg: async () => Buffer.from(svg),
  };
  const made = pictureKinds.map(async (kind) => [kind, await all[kind]()] as const);
  return new Map(await Promise.all(made));
}

/** Images with all kinds of metadata. */
const described: Partial<Record<PictureKind, Carrier>> = {
  jpeg: 'jpeg',
  'progressive jpeg': 'jpeg',
  png: 'png',
  avif: 'avif',
  webp: 'webp',
  'described tiff': 'tiff',
};

const pngTexts = [
  { type: 'tEXt', data: Buffer.from('Author\0its author') },
  { type: 'zTXt', data: Buffer.concat([Buffer.from('Copyright\0\0'), deflateSync('its owner')]) },
];

const ascii = (tag: number, value: string) => text(tag, Buffer.from(`${value}\0`));
const texts: Metadata = {
  exif: createTiff({
    entries: [
      ascii(0x010e, 'a picture'),
      shorts(0x0112, 6),
      ascii(0x013b, 'its author'),
      ascii(0x8298, 'its owner\0its editor'),
      pointer(0x8769, { entries: [ascii(0x9003, '2026:01:01 00:00:00')] }),
      pointer(0x8825, {
        entries: [ascii(1, 'N'), { tag: 2, type: 5, value: Buffer.alloc(24, 1) }],
      }),
    ],
    next: {
      entries: [
        pointer(0x0201, Buffer.from('\xff\xd8\xff\xd9', 'latin1')),
        { tag: 0x0202, type: 4, value: le32(4) },
      ],
    },
  }),
  xmp: Buffer.from(
    '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" xmpRights:Marked="True" hdrgm:Version="1.0"><dc:creator><rdf:Seq><rdf:li>its author</rdf:li></rdf:Seq></dc:creator><dc:rights><rdf:Alt><rdf:li xml:lang="x-default">its &amp; owner</rdf:li></rdf:Alt></dc:rights></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>',
  ),
  resources: Buffer.concat([
    createResource(0x03ed, Buffer.alloc(16, 1)),
    createResource(
      0x0404,
      Buffer.concat([80, 116].map((id) => dataSet(2, id, Buffer.from('text')))),
    ),
  ]),
  iptc: dataSet(2, 80, Buffer.from('its author')),
};

const size = { width: 96, height: 64 };

/** Pixels with edges and gradients, which use many features of an encoder. */
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

/**
 * Returns a 24-bit bitmap.
 * @param pixels rows with three bytes per pixel, padded to 4 bytes
 */
function createBmp(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(54);
  header.write('BM');
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return Buffer.concat([header, pixels]);
}

/** Returns an icon with one image: a PNG, or a bitmap minus its first 14 bytes. */
export function createIco(picture: Buffer): Buffer {
  const head = Buffer.alloc(22);
  head[2] = 1;
  head[4] = 1;
  head.writeUInt32LE(picture.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, picture]);
}
