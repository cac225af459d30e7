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

t.test('removes the manifest with other metadata', async (t) => {
  for (const format of formats) {
    const source = signed(format);
    for (const query of [
      'q=100',
      'keep=copyright&q=100',
      'keep=copyright&q=100&fmt=auto',
      'keep=copyright&q=100&w=100',
      `keep=copyright&q=100&fmt=${format === 'png' ? 'jpeg' : 'png'}`,
    ]) {
      const accept = `image/${format}`;
      await isDropped(t, await load(source, query, { accept }), `${format}: ${query}`);
    }
  }
});

t.test("keeps an unchanged source's manifest if the project keeps metadata", async (t) => {
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    const source = signed(format);
    const options = { of: open, accept: `image/${format}` };
    t.ok((await load(source, 'q=100', options)).equals(source), format);
    await isDropped(t, await load(source, 'q=100&w=100', options), format);
  }
});
