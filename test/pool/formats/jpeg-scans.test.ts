import sharp from 'sharp';
import t from 'tap';
import { openContainer } from '../../../pool/formats/container/container.ts';
import { jpegSegment } from '../../hostile/inputs/chunks.ts';
import { progressiveScans } from '../../hostile/inputs/scans.ts';
import { openPool, patient } from '../execution/pools.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';

const countScans = (bytes: Uint8Array) => openContainer(bytes).scans;

t.test('scans are counted as a decoder sees them', async (t) => {
  const baseline = await noise(64, 64).jpeg({ quality: 100 }).toBuffer();
  const progressive = await noise(64, 64).jpeg({ progressive: true }).toBuffer();
  t.equal(countScans(baseline), 1);
  t.equal(countScans(progressive), 10);
  t.equal(countScans(progressiveScans(1_024, 882)), 883);
  const thumbnail = jpegSegment(0xe1, progressive);
  const behind = (...added: Buffer[]) =>
    Buffer.concat([baseline.subarray(0, 2), ...added, baseline.subarray(2)]);
  t.equal(countScans(behind(thumbnail)), 1, 'those of a thumbnail are not');
  t.equal(countScans(behind(Buffer.from('ffffff00', 'hex'))), 1, 'fill bytes are skipped');
  t.equal(countScans(Buffer.concat([baseline, progressive])), 1, 'nor another picture behind it');
  const begin = (all: Buffer) => all.indexOf(Buffer.from('ffda', 'hex'));
  const scan = (all: Buffer) => all.subarray(begin(all), -2);
  const twice = (all: Buffer) => Buffer.concat([all.subarray(0, -2), scan(all), all.subarray(-2)]);
  t.equal(countScans(twice(baseline)), 1, 'nor what follows a scan with all components');
  t.equal(countScans(twice(progressive)), 20);
  const apart = Buffer.from(baseline);
  apart[begin(apart) + 4] = 1;
  t.equal(countScans(twice(apart)), 2, 'each scan of single components');
  t.equal(countScans(baseline.subarray(0, 100)), 0);
});

t.test('a JPEG has no more scans than a decoder has time for', async (t) => {
  const pool = openPool(t, { sourceMaxPixels: 4_000_000 });
  // A megapixel: four times as many as at the limit of pixels.
  const transform = (bytes: Uint8Array) =>
    pool.transform(shared(Buffer.from(bytes)), variant({ width: 9 }), patient);
  t.equal((await transform(progressiveScans(1_024, 120))).width, 9);
  const refused = {
    code: 'source_too_large',
    message: 'The JPEG has 123 scans; with its 1048576 pixels, at most 122 are allowed.',
  };
  await t.rejects(transform(progressiveScans(1_024, 122)), refused);
  const href = `data:image/jpeg;base64,${progressiveScans(1_024, 122).toString('base64')}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${href}" width="9" height="9"/></svg>`;
  await t.rejects(transform(Buffer.from(svg)), refused, 'also in an SVG');
  const photo = await sharp(await noise(300, 300).png().toBuffer())
    .jpeg({ progressive: true, mozjpeg: true })
    .toBuffer();
  t.equal((await transform(photo)).width, 9, 'encoders have far fewer');
});
