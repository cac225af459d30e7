import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import t from 'tap';
import { openPool, patient } from '../execution/pools.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';

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
    jpeg.subarray(0, 2),
    head,
    Buffer.from('Exif\0\0', 'latin1'),
    exif,
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

const spoken = async (body: Uint8Array) => {
  const { exif, xmp, icc, iptc } = await sharp(body).metadata();
  return { exif: String(exif ?? ''), xmp: String(xmp ?? ''), icc, iptc };
};
const copyrightOnly = { copyright: true, stripMetadata: true } as const;

t.test('author, copyright and licence are kept alone', async (t) => {
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Editor 9"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="uuid:77"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:cc="http://creativecommons.org/ns#"
 xmpRights:Marked="True" exif:GPSLatitude="51,30N"><exif:GPSLongitude>7,1E</exif:GPSLongitude>
<dc:creator><rdf:Seq><rdf:li>José &amp; 日本</rdf:li></rdf:Seq></dc:creator><dc:subject>secret</dc:subject>
<xmpRights:WebStatement>https://example.com/terms</xmpRights:WebStatement>
<cc:license rdf:resource="https://creativecommons.org/licenses/by/4.0/"/></rdf:Description></rdf:RDF></x:xmpmeta>`;
  const tagged = shared(
    await noise(60, 40)
      .withExif({
        IFD0: { Copyright: 'A. Photographer (2024) (ASCII)', Model: 'Camera 77' },
        IFD3: { GPSLatitude: '51/1 30/1 0/1' },
      })
      .withXmp(xmp)
      .jpeg()
      .toBuffer(),
  );
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    for (const change of [{}, { width: 20 }, { rotate: 10, blur: 1, opacity: 0.5 }]) {
      const asked = variant({ formats: [format], ...copyrightOnly, ...change });
      const kept = await spoken((await pool.transform(tagged, asked, patient)).body);
      t.match(kept.exif, 'A. Photographer (2024)\0', `${format} ${Object.keys(change)}`);
      t.match(kept.xmp, '<rdf:li>José &amp; 日本</rdf:li>');
      t.match(kept.xmp, 'A. Photographer (2024)', 'which the packet did not have');
      t.match(kept.xmp, 'xmpRights:Marked="True"');
      t.match(kept.xmp, 'https://example.com/terms');
      t.match(kept.xmp, 'rdf:resource="https://creativecommons.org/licenses/by/4.0/"');
      t.notMatch(kept.exif + kept.xmp, /Camera|GPS|51|7,1E|secret|uuid|Editor|exif\/1\.0/);
      // The tags of a GPS directory, and the pointer to it.
      t.notOk(Buffer.from(kept.exif, 'latin1').includes(Buffer.from([0x88, 0x25])));
    }
  }
  const none = await spoken(
    (
      await pool.transform(
        shared(await noise(9, 9).jpeg().toBuffer()),
        variant(copyrightOnly),
        patient,
      )
    ).body,
  );
  t.equal(none.exif + none.xmp, '', 'where there is none');
});

t.test('they are found in IPTC, in TIFF, in text chunks, and in any script', async (t) => {
  const dataSet = (number: number, text: string) =>
    Buffer.concat([Buffer.from([0x1c, 2, number, 0, Buffer.byteLength(text)]), Buffer.from(text)]);
  const iim = Buffer.concat([
    dataSet(5, 'A title'),
    dataSet(80, 'Ann'),
    dataSet(80, 'Ben'),
    dataSet(116, '© 日本 2024'),
  ]);
  const resource = Buffer.alloc(12);
  resource.write('8BIM\x04\x04', 0, 'latin1');
  resource.writeUInt32BE(iim.length, 8);
  const data = Buffer.concat([Buffer.from('Photoshop 3.0\0', 'latin1'), resource, iim]);
  const head = Buffer.from([0xff, 0xed, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  const jpeg = await noise(60, 40).jpeg().toBuffer();
  const withIptc = Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)]);
  const kept = await spoken(
    (await pool.transform(shared(withIptc), variant(copyrightOnly), patient)).body,
  );
  t.match(kept.exif, 'Ann, Ben\0');
  t.match(kept.xmp, '© 日本 2024');
  t.notMatch(kept.exif + kept.xmp, /title|\?\?/);

  const text = Buffer.from('Author\0Cleo', 'latin1');
  const chunk = Buffer.alloc(12 + text.length);
  chunk.writeUInt32BE(text.length, 0);
  chunk.write('tEXt', 4, 'latin1');
  chunk.set(text, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + text.length)), 8 + text.length);
  const png = await noise(60, 40).png().toBuffer();
  const withText = shared(Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]));
  const fromText = await spoken(
    (await pool.transform(withText, variant(copyrightOnly), patient)).body,
  );
  t.match(fromText.exif, 'Cleo\0');

  const tiff = await noise(60, 40).tiff({ compression: 'none' }).toBuffer();
  // One of its own tags becomes that of the artist, with a text in the place of pixels.
  const little = tiff.toString('latin1', 0, 2) === 'II';
  const first = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const entries = little ? tiff.readUInt16LE(first) : tiff.readUInt16BE(first);
  t.ok(little && entries > 5);
  const software = Array.from({ length: entries }, (_, index) => first + 2 + 12 * index).find(
    (at) => [0x011a, 0x0128].includes(tiff.readUInt16LE(at)),
  );
  tiff.writeUInt16LE(0x013b, software ?? 0);
  tiff.writeUInt16LE(2, (software ?? 0) + 2);
  tiff.writeUInt32LE(4, (software ?? 0) + 4);
  tiff.write('Dee\0', (software ?? 0) + 8, 'latin1');
  const fromTiff = await spoken(
    (await pool.transform(shared(tiff), variant(copyrightOnly), patient)).body,
  );
  t.match(fromTiff.exif, 'Dee\0');
});

t.test('what claims to be metadata and is not leads to none', async (t) => {
  const jpeg = await noise(20, 20).jpeg().toBuffer();
  for (const [marker, start] of [
    [0xe1, 'Exif\0\0MM\0*'],
    [0xe1, 'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta'],
    [0xed, 'Photoshop 3.0\x008BIM\x04\x04\0\0'],
  ] as const) {
    const data = Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(40, 0xff)]);
    const head = Buffer.from([0xff, marker, 0, data.length + 2]);
    const torn = shared(Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)]));
    const kept = await spoken((await pool.transform(torn, variant(copyrightOnly), patient)).body);
    t.equal(kept.exif + kept.xmp, '', start);
  }
});
