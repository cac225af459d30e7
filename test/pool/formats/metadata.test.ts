import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import {
  be32,
  jpegSegment,
  le32,
  withPngChunks,
  withSegments,
} from '../../hostile/inputs/chunks.ts';
import { createResource, dataSet, embedded } from '../../hostile/inputs/embed.ts';
import { createTiff, pointer, text, tiffPicture } from '../../hostile/inputs/tiff.ts';
import { openPool, patient } from '../execution/pools.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';

const pool = openPool(t);
const outputs = ['jpeg', 'png', 'webp', 'avif'] as const;
const jpeg = await noise(60, 40).jpeg().toBuffer();
const png = await noise(60, 40).png().toBuffer();
const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const gps = { IFD3: { GPSLatitude: '51/1 30/1 0/1' } };

/** Returns the metadata of a source's variant. */
async function readMetadata(source: Uint8Array, options: Partial<Variant>) {
  const { body } = await pool.transform(shared(source), variant(options), patient);
  const { exif, xmp, icc, iptc } = await sharp(body).metadata();
  return { exif: exif?.toString('latin1') ?? '', xmp: xmp?.toString() ?? '', icc, iptc, body };
}

t.test('strips metadata, or keeps it on request', async (t) => {
  const source = await noise(60, 40)
    .withExif({ IFD0: { Copyright: 'A. Photographer' }, ...gps })
    .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="${rdf}"/></x:xmpmeta>`)
    .withIccProfile('p3')
    .jpeg()
    .toBuffer();
  for (const format of outputs) {
    const bare = await readMetadata(source, { formats: [format] });
    t.match(bare, { exif: '', xmp: '', icc: undefined, iptc: undefined }, format);
    t.notOk(Buffer.from(bare.body).includes('Photographer'), format);
    const kept = await readMetadata(source, { formats: [format], stripMetadata: false });
    t.match(kept, { exif: 'A. Photographer', xmp: 'xmpmeta', icc: Buffer }, format);
  }
});

t.test('removes the EXIF thumbnail', async (t) => {
  const thumbnail = await noise(16, 10).jpeg().toBuffer();
  /** EXIF in the form that cameras write: the image directory, then the thumbnail directory. */
  const exif = (little: boolean) => {
    const length = little ? le32(thumbnail.length) : be32(thumbnail.length);
    const thumbnailTags = [pointer(0x0201, thumbnail), { tag: 0x0202, type: 4, value: length }];
    const entries = [text(0x8298, Buffer.from('A. Photographer\0'))];
    return createTiff({ entries, next: { entries: thumbnailTags } }, little);
  };
  const start = '\xff\xd8\xff';
  for (const source of [
    embedded.jpeg(jpeg, { exif: exif(true) }),
    embedded.jpeg(jpeg, { exif: exif(false) }),
    embedded.png(png, { exif: exif(true) }),
  ]) {
    const { exif = Buffer.alloc(0) } = await sharp(source).metadata();
    t.match(exif.toString('latin1'), start, 'the source has a thumbnail');
    for (const format of outputs) {
      for (const change of [{ width: 20 }, { rotate: 10, blur: 3 }, { quality: 100 }]) {
        const options = { formats: [format], stripMetadata: false, ...change };
        const { exif } = await readMetadata(source, options);
        t.match(exif, 'A. Photographer', format);
        t.notMatch(exif, start, `${format} ${Object.keys(change)}`);
        t.ok(exif.length < 300, 'without the bytes of the thumbnail');
      }
    }
  }
  const truncated = embedded.jpeg(jpeg, { exif: exif(true).subarray(0, 60) });
  const { exif: rest } = await readMetadata(truncated, { formats: ['jpeg'], stripMetadata: false });
  t.notMatch(rest, start, 'truncated EXIF');
});

t.test('keeps XMP except its gain map, which the output drops', async (t) => {
  const xmp = `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="${rdf}"><rdf:Description
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"
 xmlns:C="http://ns.google.com/photos/1.0/container/" hdrgm:Version="1.0"
 dc:source="a &amp; &quot;b&quot;"><C:Directory><rdf:Seq><rdf:li C:Semantic="GainMap"/></rdf:Seq>
</C:Directory><hdrgm:Gamma>1</hdrgm:Gamma><dc:rights>© &lt;me&gt;</dc:rights></rdf:Description>
</rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;
  const tagged = await noise(60, 40).withXmp(xmp).jpeg().toBuffer();
  const truncated = await noise(60, 40).withXmp(xmp.slice(0, -40)).jpeg().toBuffer();
  for (const format of outputs) {
    const options = { formats: [format], stripMetadata: false, rotate: 10, blur: 1 };
    const kept = await readMetadata(tagged, options);
    t.match(kept.xmp, 'dc:source="a &amp; &quot;b&quot;"');
    t.match(kept.xmp, '<dc:rights>© &lt;me&gt;</dc:rights></rdf:Description>');
    t.notMatch(kept.xmp, /gain|Directory|photos|hdrgm/i, format);
    t.equal(
      (await readMetadata(truncated, options)).xmp,
      '',
      `${format}: truncated XMP is removed`,
    );
  }
});

const onlyCopyright = { copyright: true, stripMetadata: true } as const;

t.test('keeps only author, copyright and licence', async (t) => {
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Editor 9"><rdf:RDF
 xmlns:rdf="${rdf}"><rdf:Description rdf:about="uuid:77"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:cc="http://creativecommons.org/ns#"
 xmpRights:Marked="True" exif:GPSLatitude="51,30N"><exif:GPSLongitude>7,1E</exif:GPSLongitude>
<dc:creator><rdf:Seq><rdf:li>José &amp; 日本</rdf:li></rdf:Seq></dc:creator><dc:subject>secret</dc:subject>
<xmpRights:WebStatement>https://example.com/terms</xmpRights:WebStatement>
<cc:license rdf:resource="https://creativecommons.org/licenses/by/4.0/"/></rdf:Description></rdf:RDF></x:xmpmeta>`;
  const copyright = 'A. Photographer (2024)';
  const tagged = await noise(60, 40)
    .withExif({ IFD0: { Copyright: `${copyright} (ASCII)`, Model: 'Camera 77' }, ...gps })
    .withXmp(xmp)
    .jpeg()
    .toBuffer();
  for (const format of outputs) {
    for (const change of [{}, { width: 20 }, { rotate: 10, blur: 1, opacity: 0.5 }]) {
      const kept = await readMetadata(tagged, { formats: [format], ...onlyCopyright, ...change });
      t.match(kept.exif, `${copyright}\0`, `${format} ${Object.keys(change)}`);
      for (const expected of [
        '<rdf:li>José &amp; 日本</rdf:li>',
        // From EXIF.
        copyright,
        'xmpRights:Marked="True"',
        'https://example.com/terms',
        'rdf:resource="https://creativecommons.org/licenses/by/4.0/"',
      ]) {
        t.match(kept.xmp, expected);
      }
      t.notMatch(kept.exif + kept.xmp, /Camera|GPS|51|7,1E|secret|uuid|Editor|exif\/1\.0/);
      t.notMatch(kept.exif, '\x88\x25', 'no GPS directory');
    }
  }
  const none = await readMetadata(await noise(9, 9).jpeg().toBuffer(), onlyCopyright);
  t.equal(none.exif + none.xmp, '', 'a source without them');
});

t.test('reads author and copyright from IPTC, TIFF and text chunks', async (t) => {
  const set = (number: number, value: string) => dataSet(2, number, Buffer.from(value));
  const sets = [set(5, 'A title'), set(80, 'Ann'), set(80, 'Ben'), set(116, '© 日本 2024')];
  const resources = createResource(0x0404, Buffer.concat(sets));
  const fromIptc = await readMetadata(embedded.jpeg(jpeg, { resources }), onlyCopyright);
  t.match(fromIptc.exif, 'Ann, Ben\0');
  t.match(fromIptc.xmp, '© 日本 2024');
  t.notMatch(fromIptc.exif + fromIptc.xmp, /title|\?\?/);
  const chunk = { type: 'tEXt', data: Buffer.from('Author\0Cleo') };
  t.match((await readMetadata(withPngChunks(png, [chunk]), onlyCopyright)).exif, 'Cleo\0');
  const tiff = createTiff(tiffPicture([text(0x013b, Buffer.from('Dee\0'))]));
  t.match((await readMetadata(tiff, onlyCopyright)).exif, 'Dee\0');
});

t.test('ignores malformed metadata', async (t) => {
  for (const [marker, start] of [
    [0xe1, 'Exif\0\0MM\0*'],
    [0xe1, 'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta'],
    [0xed, 'Photoshop 3.0\x008BIM\x04\x04\0\0'],
  ] as const) {
    const data = Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(40, 0xff)]);
    const kept = await readMetadata(withSegments(jpeg, jpegSegment(marker, data)), onlyCopyright);
    t.equal(kept.exif + kept.xmp, '', start);
  }
});
