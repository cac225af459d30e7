import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { ssim, toReference } from '../../../bench/meter.ts';
import { picture } from '../../../demo/origin/pictures.ts';
import {
  type Chroma,
  type EncodeOptions,
  encodings,
  type OutputFormat,
} from '../../../pool/rendering/encode/encodings.ts';
import { drawn, rendered } from './drawn.ts';
import { noise, quarters } from './pictures.ts';

const photo = await sharp(await picture('portrait-rotated.jpg'), { autoOrient: true })
  .resize({ width: 320 })
  .png()
  .toBuffer();

function encoded(image: Sharp, format: SharpFormat, options: Partial<EncodeOptions> = {}) {
  return encodings[format]
    .encode(image, {
      quality: 80,
      lossless: false,
      sharpChroma: false,
      flat: false,
      animated: false,
      pixels: 1000,
      ...options,
    })
    .toBuffer();
}

/** Formats that sharp writes. */
type SharpFormat = Exclude<OutputFormat, 'jxl' | 'svg'>;

/** Pixels with the colour of transparent ones removed. */
async function visible(image: Sharp): Promise<Buffer> {
  const pixels = await image.ensureAlpha().raw().toBuffer();
  for (let at = 0; at < pixels.length; at += 4)
    if (pixels[at + 3] === 0) pixels.fill(0, at, at + 4);
  return pixels;
}

// The formats are calibrated with SSIMULACRA2, which SSIM of luma follows only roughly.
t.test('loses about the same at a quality in every lossy format', async (t) => {
  const reference = await toReference(sharp(photo));
  for (const quality of [30, 60, 80]) {
    const jpeg = await ssim(reference, await encoded(sharp(photo), 'jpeg', { quality }));
    for (const format of ['webp', 'avif'] as const) {
      const found = await ssim(reference, await encoded(sharp(photo), format, { quality }));
      const loss = (1 - found) / (1 - jpeg);
      t.ok(loss > 0.5 && loss < 1.3, `${format} ${quality}: ${loss.toFixed(2)} x JPEG's loss`);
    }
  }
});

t.test('keeps every pixel at any quality if lossless', async (t) => {
  const opaque = await sharp(photo).resize(90, 120).png().toBuffer();
  const alpha = await noise(90, 120).extractChannel(0).png().toBuffer();
  const transparent = await sharp(opaque).joinChannel(alpha).png().toBuffer();
  for (const [name, image] of Object.entries({ opaque, transparent })) {
    const expected = await visible(sharp(image));
    for (const format of ['webp', 'avif'] as const) {
      const output = await encoded(sharp(image), format, { lossless: true, quality: 10 });
      t.ok((await visible(sharp(output))).equals(expected), `${name}: ${format}`);
      const other = await encoded(sharp(image), format, { lossless: true, quality: 90 });
      t.ok(output.equals(other), `${name}: ${format} does not depend on the quality`);
    }
  }
});

t.test('ignores lossless for JPEG', async (t) => {
  const output = await encoded(sharp(photo), 'jpeg', { lossless: true });
  t.ok(output.equals(await encoded(sharp(photo), 'jpeg')));
});

t.test('keeps the chroma resolution from quality 90, or on request', async (t) => {
  const chroma = async (format: SharpFormat, options: Partial<EncodeOptions>) =>
    (await sharp(await encoded(sharp(photo), format, options)).metadata()).chromaSubsampling;
  t.equal(await chroma('jpeg', { quality: 89 }), '4:2:0');
  t.equal(await chroma('jpeg', { quality: 90 }), '4:4:4');
  t.equal(await chroma('jpeg', { quality: 50, sharpChroma: true }), '4:4:4');
  t.equal(await chroma('jpeg', { quality: 50, chroma: '444' }), '4:4:4');
  t.equal(await chroma('jpeg', { quality: 100, sharpChroma: true, chroma: '420' }), '4:2:0');
  /** Reads chroma_subsampling_x and _y of the AV1 configuration (AV1-ISOBMFF, 2.3.3). */
  const isHalf = async (options: Partial<EncodeOptions>) => {
    const avif = await encoded(sharp(photo), 'avif', options);
    return ((avif[avif.indexOf('av1C') + 6] ?? 0) & 0b1100) === 0b1100;
  };
  t.notOk(await isHalf({}));
  t.ok(await isHalf({ quality: 95, flat: true, chroma: '420' }));
  const webp = (chroma: Chroma) => encoded(sharp(photo), 'webp', { chroma });
  t.notSame(await webp('444'), await webp('420'), 'WebP makes it sharper');
});

t.test('returns smaller WebP and AVIF than JPEG at the same quality', async (t) => {
  for (const quality of [60, 80, 90]) {
    const jpeg = await encoded(sharp(photo), 'jpeg', { quality });
    for (const format of ['webp', 'avif'] as const) {
      const { length } = await encoded(sharp(photo), format, { quality });
      t.ok(length < jpeg.length, `${format} ${quality}: ${length} < ${jpeg.length}`);
    }
  }
});

t.test(
  'returns a drawing as AVIF smaller than the photo encoder would, and as good as JPEG',
  async (t) => {
    for (const [name, paper, ink] of [
      ['grey on white', 'white', '#333'],
      ['red on blue', '#03c', '#f22'],
    ] as const) {
      const lines = Array.from(
        { length: 9 },
        (_, line) =>
          `<path d="M9 ${line * 20 + 12}h${90 + line * 21}m9 -9l${60 - line} 14m5 0v-14" stroke="${ink}" stroke-width="3"/>`,
      ).join('');
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="240"><rect width="400" height="240" fill="${paper}"/>${lines}</svg>`;
      const png = await sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();
      const reference = await toReference(sharp(png));
      for (const quality of [40, 80]) {
        const label = `${name} at ${quality}`;
        const { body } = await rendered(png, { formats: ['avif'], lossless: false, quality });
        const other = await encoded(sharp(png), 'avif', { quality, pixels: 400 * 240 });
        t.ok(body.byteLength < other.length, `${label}: ${body.byteLength}, ${other.length}`);
        const jpeg = await rendered(png, { formats: ['jpeg'], quality });
        const [score, least] = [await ssim(reference, body), await ssim(reference, jpeg.body)];
        t.ok(score > least - 0.01, `${label}: ${score.toFixed(4)}, JPEG ${least.toFixed(4)}`);
      }
    }
  },
);

t.test('returns more bytes for more quality', async (t) => {
  for (const format of ['jpeg', 'webp', 'avif'] as const) {
    let last = 0;
    for (const quality of [1, 3, 8, 15, 25, 45, 70, 85, 93, 98, 100]) {
      const { length } = await encoded(quarters(60, 60).blur(8), format, { quality });
      t.ok(length >= last * 0.97, `${format} ${quality}: ${length}`);
      last = length;
    }
  }
});

t.test('keeps strokes of a scaled JPEG or WebP as sharp as the scale allows', async (t) => {
  // Draw the letters H and E in many sizes as shapes: words would load fonts into this process.
  const letters = Array.from({ length: 200 }, (_, n) => {
    const [left, top, unit] = [20 + 75 * (n % 20), 20 + 150 * Math.floor(n / 20), 2 + (n % 7)];
    const strokes = n % 2 === 0 ? 'h1v4h4v-4h1v10h-1v-5h-4v5h-1z' : 'h6v1h-5v3h4v1h-4v4h5v1h-6z';
    return `<path transform="translate(${left},${top}) scale(${unit})" d="M0,0${strokes}"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1520" height="1520">${letters.join('')}</svg>`;
  const drawing = await sharp(Buffer.from(svg)).flatten({ background: '#fff' }).png().toBuffer();
  for (const [format, width, least] of [
    ['jpeg', 160, 0.998],
    ['webp', 1000, 0.9995],
  ] as const) {
    const source = await sharp(drawing).toFormat(format, { quality: 95 }).toBuffer();
    const { data, info } = await sharp(source).raw().toBuffer({ resolveWithObject: true });
    const reference = await toReference(sharp(data, { raw: info }).resize(width));
    const { body } = await drawn(source, { width });
    const score = await ssim(reference, Buffer.from(body));
    t.ok(score >= least, `${format}: ${score.toFixed(4)}`);
  }
});
