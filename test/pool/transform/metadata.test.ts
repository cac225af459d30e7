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
