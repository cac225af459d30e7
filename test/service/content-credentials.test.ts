import sharp from 'sharp';
import t, { type Test } from 'tap';
import {
  be16,
  be32,
  jpegSegment,
  riff,
  riffChunks,
  withPngChunks,
  withSegments,
} from '../hostile/inputs/chunks.ts';
import { noise } from '../pool/rendering/pictures.ts';
import { startFrontEnd } from './front-end.ts';

const { url, origin, store, project, createProject } = await startFrontEnd(t);
/** This project keeps metadata. */
const open = await createProject('127.0.0.1');
await store.projects.updateSettings(open, { stripMetadata: false });

const secret = 'a manifest of the source';
const box = (type: string, ...content: readonly Buffer[]): Buffer => {
  const data = Buffer.concat(content);
  return Buffer.concat([be32(data.length + 8), Buffer.from(type, 'latin1'), data]);
};
/** Returns a JUMBF superbox like a C2PA manifest store (C2PA 2.1, 11.1.4), with other content. */
const superbox = (type: string) =>
  box(
    'jumb',
    box('jumd', Buffer.from(type, 'hex'), Buffer.from('\x03c2pa\0', 'latin1')),
    box('json', Buffer.alloc(2_000, secret)),
  );
const storeType = '6332706100110010800000aa00389b71';
const manifest = superbox(storeType);

/** Less than the segment limit, so that there are several segments. */
const pieceBytes = 900;

/** Segments of a JPEG with one box (ISO/IEC 19566-5, D.2). */
function boxSegments(data: Buffer, instance = 1): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 8; at < data.length; at += pieceBytes) {
    const piece = data.subarray(at, at + pieceBytes);
    const head = [Buffer.from('JP'), be16(instance), be32(pieces.length + 1), data.subarray(0, 8)];
    pieces.push(jpegSegment(0xeb, Buffer.concat([...head, piece])));
  }
  return pieces;
}

const picture = await noise(200, 150).blur(0.6).png().toBuffer();
const drawn = () => sharp(picture);
/**
 * So small that a new encoding of the highest quality takes more bytes, in spite of the manifest.
 */
const bare = {
  jpeg: await drawn().jpeg({ quality: 20 }).toBuffer(),
  png: await noise(450, 300)
    .blur(3)
    .png({ compressionLevel: 9, adaptiveFiltering: true })
    .toBuffer(),
  webp: await drawn().webp({ quality: 10 }).toBuffer(),
  avif: await drawn().avif({ quality: 20 }).toBuffer(),
} as const;
type Format = keyof typeof bare;

const signers: Readonly<Record<Format, (file: Buffer) => Buffer>> = {
  jpeg: (file) => withSegments(file, ...boxSegments(manifest)),
  png: (file) => withPngChunks(file, [{ type: 'caBX', data: manifest }]),
  webp: (file) => riff([...riffChunks(file), ['C2PA', manifest]]),
  avif: (file) =>
    Buffer.concat([
      file,
      box('uuid', Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex'), be32(0), manifest),
    ]),
};
const signed = (format: Format) => signers[format](bare[format]);
const formats = Object.keys(bare) as Format[];

let served = 0;
/** Loads the image of an uncached source. */
async function load(
  source: Buffer,
  query: string,
  { of = project, accept = '*/*' } = {},
): Promise<Buffer> {
  served += 1;
  origin.serve(`/${served}`, source);
  const response = await fetch(`${url}/img/${origin.url}/${served}?project=${of}&${query}`, {
    headers: { accept },
  });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(body.toString());
  return body;
}

/** Checks that the body lacks the manifest and still decodes. */
async function isDropped(t: Test, body: Buffer, message: string): Promise<void> {
  t.notOk(body.includes(secret), message);
  t.ok((await sharp(body).stats()).isOpaque, message);
}

t.test('delivers the source with its manifest byte for byte with keep=copyright', async (t) => {
  for (const format of formats) {
    const source = signed(format);
    t.ok(source.includes(secret));
    for (const fmt of [format, 'auto']) {
      const body = await load(source, `keep=copyright&q=100&fmt=${fmt}`, {
        accept: `image/${format}`,
      });
      t.ok(body.equals(source), `${format}, fmt=${fmt}: ${body.length} of ${source.length}`);
    }
  }
});

t.test('drops the manifest if a byte changes', async (t) => {
  for (const format of formats) {
    const source = signed(format);
    for (const query of [
      'q=100',
      'keep=copyright&q=100&w=100',
      'keep=copyright&q=100&flip',
      'keep=copyright&q=100&blur=2',
      'keep=copyright&q=100&hue=90',
      `keep=copyright&q=100&fmt=${format === 'png' ? 'jpeg' : 'png'}`,
    ]) {
      await isDropped(t, await load(source, query), `${format}: ${query}`);
    }
  }
  const fine = await drawn().jpeg({ quality: 100 }).toBuffer();
  const body = await load(signers.jpeg(fine), 'keep=copyright&q=60');
  await isDropped(t, body, 'a new encoding has fewer bytes');
});

t.test(
  'keeps the manifest next to author and copyright, but not next to other metadata',
  async (t) => {
    const artist = { IFD0: { Artist: 'A. Photographer', Copyright: '2026 A. Photographer' } };
    const xmp = (attributes: string) =>
      `<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="a"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ${attributes}/></rdf:RDF></x:xmpmeta>`;
    const rights = xmp('xmlns:r="http://ns.adobe.com/xap/1.0/rights/" r:Marked="True"');
    const tool = xmp('xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreateDate="2026-01-01"');
    const encoders = {
      jpeg: (image: ReturnType<typeof drawn>) => image.jpeg({ quality: 20 }),
      webp: (image: ReturnType<typeof drawn>) => image.webp({ quality: 10 }),
    } as const;
    for (const format of ['jpeg', 'webp'] as const) {
      const made = async (image: ReturnType<typeof drawn>) =>
        signers[format](await encoders[format](image).toBuffer());
      for (const [name, source] of Object.entries({
        exif: await made(drawn().withExif(artist)),
        xmp: await made(drawn().withXmp(rights)),
        both: await made(drawn().withExif(artist).withXmp(rights)),
        srgb: await made(drawn().withIccProfile('srgb')),
      })) {
        const body = await load(source, 'keep=copyright&q=100');
        t.ok(body.equals(source), `${format} with ${name}`);
      }
      const camera = { ...artist, IFD2: { LensModel: '50mm' } };
      const place = { ...artist, IFD3: { GPSLatitude: '51/1 30/1 0/1', GPSLatitudeRef: 'N' } };
      for (const [name, source] of Object.entries({
        camera: await made(drawn().withExif(camera)),
        place: await made(drawn().withExif(place)),
        tool: await made(drawn().withXmp(tool)),
        both: await made(drawn().withExif(artist).withXmp(tool)),
        profile: await made(drawn().withIccProfile('p3')),
      })) {
        const body = await load(source, 'keep=copyright&q=100');
        await isDropped(t, body, `${format} with ${name}`);
        t.notOk(body.includes('50mm') || body.includes('CreateDate'), name);
        const { exif } = await sharp(body).metadata();
        const hasArtist = ['camera', 'place', 'both'].includes(name);
        t.equal(exif?.includes('A. Photographer') ?? false, hasArtist, `${format} with ${name}`);
      }
    }
    const wide = signers.jpeg(await drawn().withIccProfile('p3').jpeg({ quality: 20 }).toBuffer());
    const body = await load(wide, 'keep=copyright&icc=keep&q=100');
    t.ok(body.equals(wide), 'with icc=keep the profile does not prevent it');
  },
);

t.test('does not deliver files that hide bytes unchanged', async (t) => {
  const more = Buffer.from('hidden');
  const other = boxSegments(superbox('11111111001100108000000000000000'), 2);
  for (const [name, source] of Object.entries({
    'behind the end': Buffer.concat([signed('jpeg'), more]),
    'behind the end of a PNG': Buffer.concat([signed('png'), more]),
    'in a comment': withSegments(signed('jpeg'), jpegSegment(0xfe, more)),
    'in another box': withSegments(signed('jpeg'), ...other),
    'only another box': withSegments(bare.jpeg, ...other),
    'in a chunk': withPngChunks(signed('png'), [{ type: 'tEXt', data: Buffer.from('a\0hidden') }]),
    'in a chunk of WebP': riff([...riffChunks(signed('webp')), ['HIDE', more]]),
    'in a box': Buffer.concat([signed('avif'), box('free', more)]),
  })) {
    const body = await load(source, 'keep=copyright&q=100');
    t.notOk(body.includes(more), name);
    await isDropped(t, body, name);
  }
  const resolution = Buffer.concat([be32(2835), be32(2835), Buffer.from([1])]);
  const dense = withPngChunks(signed('png'), [{ type: 'pHYs', data: resolution }]);
  t.ok((await load(dense, 'keep=copyright&q=100')).equals(dense), 'a resolution is no metadata');
});

t.test("keeps an unchanged source's manifest if the project keeps metadata", async (t) => {
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    const source = signed(format);
    t.ok((await load(source, 'q=100', { of: open })).equals(source), format);
    await isDropped(t, await load(source, 'q=100&w=100', { of: open }), format);
  }
});
