import sharp from 'sharp';
import t from 'tap';
import { seeded } from '../../../bench/load/random.ts';
import { readPlainHeader } from '../../../pool/formats/jpeg/header.ts';
import { more } from '../../extended.ts';
import { jpegSegment } from '../../hostile/inputs/chunks.ts';
import { pictures } from '../../hostile/inputs/pictures.ts';
import { described, drawn } from '../rendering/drawn.ts';
import { noise } from '../rendering/pictures.ts';

const photo = noise(60, 40);
const known = await pictures();
const none = Buffer.alloc(0);
const plain = await photo.clone().jpeg().toBuffer();
const turned = await photo.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer();
const sources: Record<string, Buffer> = {
  plain,
  progressive: await photo.clone().jpeg({ progressive: true }).toBuffer(),
  grey: await photo.clone().toColourspace('b-w').jpeg().toBuffer(),
  'full chroma': await photo.clone().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer(),
  turned,
  'Display P3': await photo.clone().withIccProfile('p3').jpeg().toBuffer(),
  'all metadata': known.get('jpeg') ?? none,
};

const fields = ['format', 'width', 'height', 'space', 'channels', 'depth', 'hasProfile', 'icc'];

/** Returns the header that sharp reads, or null if sharp rejects it. */
async function bySharp(source: Buffer) {
  const header = await sharp(source, { failOn: 'error' })
    .metadata()
    .catch(() => null);
  return header && { ...header, orientation: header.orientation ?? 1 };
}

const selected = (header: object | null) =>
  header && Object.fromEntries(Object.entries(header).filter(([name]) => isSelected(name)));
const isSelected = (name: string) => [...fields, 'orientation', 'hasAlpha'].includes(name);

t.test('reads the header of usual JPEGs as libvips does', async (t) => {
  for (const [name, source] of Object.entries(sources)) {
    const header = readPlainHeader(source);
    t.not(header, null, name);
    t.same(selected(header), selected(await bySharp(source)), name);
  }
  t.match((await described(turned)).source, { width: 40, height: 60 });
});

t.test('leaves unusual JPEGs to sharp', async (t) => {
  const withSegment = (marker: number, text: string) =>
    Buffer.concat([
      plain.subarray(0, 2),
      jpegSegment(marker, Buffer.from(text, 'latin1')),
      plain.subarray(2),
    ]);
  const unusual: Record<string, Buffer> = {
    cmyk: await photo.clone().toColourspace('cmyk').jpeg().toBuffer(),
    'unreadable EXIF': withSegment(0xe1, 'Exif\0\0nothing'),
    'a part of a profile': withSegment(0xe2, 'ICC_PROFILE\0\x01\x02data'),
    'bytes between segments': Buffer.concat([
      plain.subarray(0, 2),
      Buffer.from('ab'),
      plain.subarray(2),
    ]),
    truncated: plain.subarray(0, 200),
  };
  for (const [name, source] of Object.entries(unusual))
    t.equal(readPlainHeader(source), null, name);
  t.match((await described(unusual['unreadable EXIF'] ?? none)).source, { width: 60, height: 40 });
  t.same((await drawn(unusual['cmyk'] ?? none)).size, [60, 40]);
});

t.test('reads no header that libvips refuses or reads otherwise', async (t) => {
  const random = seeded(1);
  let read = 0;
  for (const [name, source] of Object.entries(sources)) {
    for (let run = 0; run < (more ? 400 : 50); run += 1) {
      const changed = Buffer.from(source);
      for (let change = 0; change < 2; change += 1) {
        // Most headers take a thousand bytes, and most faults are in their lengths and counts.
        changed[3 + random.below(Math.min(source.length - 3, 1_000))] = random.below(256);
      }
      const header = readPlainHeader(changed);
      if (header === null) continue;
      read += 1;
      t.same(selected(header), selected(await bySharp(changed)), `${name}, ${run}`);
    }
  }
  t.ok(read > 50, `${read} headers`);
});
