import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import t from 'tap';
import { noise, shared, variant } from './pictures.ts';
import { openPool, patient } from './pools.ts';

const pool = openPool(t);
const xmp =
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>';
const source = shared(
  await noise(60, 40)
    .withExif({ IFD0: { Copyright: 'A. Photographer' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withXmp(xmp)
    .withIccProfile('p3')
    .jpeg()
    .toBuffer(),
);

for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
  t.test(format, async (t) => {
    const stripped = await pool.transform(source, variant({ formats: [format] }), patient);
    const bare = await sharp(stripped.body).metadata();
    t.notOk(bare.exif ?? bare.xmp ?? bare.icc ?? bare.iptc, 'nothing is left');
    t.notOk(Buffer.from(stripped.body).includes('Photographer'));

    const asked = variant({ formats: [format], stripMetadata: false });
    const kept = await pool.transform(source, asked, patient);
    const full = await sharp(kept.body).metadata();
    t.ok(full.exif?.includes('A. Photographer'), 'EXIF is kept');
    t.ok(full.xmp?.includes('xmpmeta'), 'XMP is kept');
    t.ok(full.icc, 'ICC is kept');
  });
}

/** The first bytes of a JPEG. */
const picture = Buffer.from([0xff, 0xd8, 0xff]);

/** EXIF of two directories, as cameras write it: that of the image, and that of its thumbnail. */
async function exifWithThumbnail(order: 'II' | 'MM'): Promise<Buffer> {
  const thumbnail = await noise(16, 10).jpeg().toBuffer();
  const author = 'A. Photographer\0';
  const second = 8 + 18 + author.length;
  const data = second + 2 + 36 + 4;
  const exif = Buffer.alloc(data + thumbnail.length);
  const short = (value: number, at: number) =>
    order === 'II' ? exif.writeUInt16LE(value, at) : exif.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    order === 'II' ? exif.writeUInt32LE(value, at) : exif.writeUInt32BE(value, at);
  const entry = (at: number, tag: number, type: number, count: number, value: number) => {
    short(tag, at);
    short(type, at + 2);
    long(count, at + 4);
    if (type === 3) short(value, at + 8);
    else long(value, at + 8);
  };
  exif.write(order, 0, 'latin1');
  short(42, 2);
  long(8, 4);
  short(1, 8);
  entry(10, 0x8298, 2, author.length, 26);
  long(second, 22);
  exif.write(author, 26, 'latin1');
  short(3, second);
  entry(second + 2, 0x0103, 3, 1, 6);
  entry(second + 14, 0x0201, 4, 1, data);
  entry(second + 26, 0x0202, 4, 1, thumbnail.length);
  exif.set(thumbnail, data);
  return exif;
}

const asJpeg = async (exif: Buffer) => {
  const jpeg = await noise(60, 40).jpeg().toBuffer();
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(exif.length + 8, 2);
  return Buffer.concat([
    ...[jpeg.subarray(0, 2), head, Buffer.from('Exif\0\0', 'latin1'), exif],
    jpeg.subarray(2),
  ]);
};
const asPng = async (exif: Buffer) => {
  const png = await noise(60, 40).png().toBuffer();
  const chunk = Buffer.alloc(12 + exif.length);
  chunk.writeUInt32BE(exif.length, 0);
  chunk.write('eXIf', 4, 'latin1');
  chunk.set(exif, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + exif.length)), 8 + exif.length);
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
};

t.test('the thumbnail of the whole picture is not kept', async (t) => {
  const sources = [
    await asJpeg(await exifWithThumbnail('II')),
    await asJpeg(await exifWithThumbnail('MM')),
    await asPng(await exifWithThumbnail('II')),
  ];
  for (const source of sources) {
    t.ok((await sharp(source).metadata()).exif?.includes(picture), 'it is in the source');
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
      for (const change of [{ width: 20 }, { rotate: 10, blur: 3 }, { quality: 100 }]) {
        const asked = variant({ formats: [format], stripMetadata: false, ...change });
        const { body } = await pool.transform(shared(source), asked, patient);
        const { exif } = await sharp(body).metadata();
        t.ok(exif?.includes('A. Photographer'), format);
        t.notOk(exif?.includes(picture), `${format} ${Object.keys(change)}`);
        t.ok((exif?.length ?? 0) < 300, 'nor is its place');
      }
    }
  }
  const torn = await asJpeg((await exifWithThumbnail('II')).subarray(0, 60));
  const asked = variant({ formats: ['jpeg'], stripMetadata: false });
  const { body } = await pool.transform(shared(torn), asked, patient);
  t.notOk((await sharp(body).metadata()).exif?.includes(picture), 'torn EXIF is no error');
});

t.test('XMP is kept without a gain map, which the output does not have', async (t) => {
  const xmp = `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"
 xmlns:C="http://ns.google.com/photos/1.0/container/" hdrgm:Version="1.0"
 dc:source="a &amp; &quot;b&quot;"><C:Directory><rdf:Seq><rdf:li C:Semantic="GainMap"/></rdf:Seq>
</C:Directory><hdrgm:Gamma>1</hdrgm:Gamma><dc:rights>© &lt;me&gt;</dc:rights></rdf:Description>
</rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;
  const taken = (text: string) => noise(60, 40).withXmp(text).jpeg().toBuffer();
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const asked = variant({ formats: [format], stripMetadata: false, rotate: 10, blur: 1 });
    const { body } = await pool.transform(shared(await taken(xmp)), asked, patient);
    const kept = String((await sharp(body).metadata()).xmp);
    t.match(kept, 'dc:source="a &amp; &quot;b&quot;"');
    t.match(kept, '<dc:rights>© &lt;me&gt;</dc:rights></rdf:Description>');
    t.notMatch(kept, /gain|Directory|photos|hdrgm/i, format);
    const torn = shared(await taken(xmp.slice(0, -40)));
    const without = await pool.transform(torn, asked, patient);
    t.notOk((await sharp(without.body).metadata()).xmp, 'nor what cannot be read');
  }
});
