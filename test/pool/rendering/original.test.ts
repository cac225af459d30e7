import fc from 'fast-check';
import sharp from 'sharp';
import t from 'tap';
import { withoutMetadata as stripped } from '../../../pool/formats/container/container.ts';
import type { Variant } from '../../../pool/variant.ts';
import { propertyRuns } from '../../extended.ts';
import { withPngChunks } from '../../hostile/inputs/chunks.ts';
import { formatNamed } from '../formats/named.ts';
import { described, drawn } from './drawn.ts';
import { animation, blue, noise, red, watermark } from './pictures.ts';

const withoutMetadata = (source: Uint8Array, name: string) =>
  stripped(source, formatNamed(name).container);

const photo = await noise(120, 80).blur(2).png().toBuffer();
const secret = 'A. Photographer';
const tagged = () =>
  sharp(photo)
    .withExif({ IFD0: { Copyright: secret } })
    .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${secret}</x:xmpmeta>`);
/** Returns a GIF with a comment after its header and colour table. */
async function commented(): Promise<Buffer> {
  const gif = await animation('gif', [red, blue, red], { width: 60, height: 40 });
  const at = 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1);
  const comment = Buffer.from(`\x21\xfe${String.fromCharCode(secret.length)}${secret}\0`, 'latin1');
  return Buffer.concat([gif.subarray(0, at), comment, gif.subarray(at)]);
}

const sources = {
  jpeg: await tagged().jpeg({ quality: 30 }).toBuffer(),
  progressive: await tagged().jpeg({ quality: 30, progressive: true }).toBuffer(),
  webp: await tagged().webp({ quality: 10, effort: 6 }).toBuffer(),
  'webp, lossless': await tagged().webp({ lossless: true, effort: 6 }).toBuffer(),
  'webp, moving': await animation('webp', [red, blue], { width: 60, height: 40 }),
  png: await tagged().png({ compressionLevel: 9, adaptiveFiltering: true, effort: 10 }).toBuffer(),
  'png of few colours': await sharp(photo).png({ colours: 20, effort: 10 }).toBuffer(),
  gif: await commented(),
  avif: await sharp(photo).avif({ quality: 10, effort: 6 }).toBuffer(),
};
/** Sources of such low quality that a new encoding is larger. */
const coarse: ReadonlySet<string> = new Set(['jpeg', 'progressive', 'webp', 'avif']);
const toFormat = (name: string) => (/^prog/.test(name) ? 'jpeg' : /^\w+/.exec(name)?.[0]) as 'jpeg';
const best = { quality: 100 } as const;
const decodePixels = (bytes: Uint8Array) => sharp(bytes, { pages: -1 }).raw().toBuffer();

for (const [name, source] of Object.entries(sources)) {
  t.test(`delivers a smaller ${name} source unchanged`, async (t) => {
    const format = toFormat(name);
    const own = Buffer.from(withoutMetadata(source, format) ?? '');
    t.ok(own.byteLength <= source.byteLength);
    t.notOk(Buffer.from(own).includes(secret));
    const header = await sharp(own).metadata();
    t.notOk(header.exif ?? header.xmp ?? header.icc);
    t.ok((await decodePixels(own)).equals(await decodePixels(source)));

    for (const formats of [[], [format]]) {
      const { body } = await drawn(source, { ...best, formats });
      t.ok(body.byteLength <= own.byteLength, `${body.byteLength} of ${own.byteLength}`);
      if (coarse.has(name)) t.ok(own.equals(body), formats.join());
    }
    const kept = await drawn(source, { ...best, formats: [], stripMetadata: false });
    t.ok(kept.body.byteLength <= source.byteLength, 'with the metadata');
  });
}

t.test('does not negotiate a format larger than the source', async (t) => {
  const auto = { ...best, formats: ['avif', 'webp'], negotiated: true } as const;
  const output = await drawn(sources.jpeg, auto);
  t.same([output.contentType, output.body], ['image/jpeg', withoutMetadata(sources.jpeg, 'jpeg')]);
  t.equal((await drawn(sources.jpeg, { ...auto, quality: 5 })).contentType, 'image/avif');
  t.equal((await drawn(sources.jpeg, { ...auto, negotiated: false })).contentType, 'image/avif');
  const named = await drawn(sources.webp, { ...best, negotiated: true, formats: ['webp'] });
  t.equal(named.contentType, 'image/webp');
  t.equal((await drawn(sources.webp, { ...best, negotiated: true })).contentType, 'image/png');
  t.match(await described(sources.jpeg, auto), { output: { format: 'jpeg' } });
});

t.test('does not deliver the source if pixels change', async (t) => {
  const changes: readonly Partial<Variant>[] = [
    { width: 119 },
    { crop: { left: 0, top: 0, width: 120, height: 79 } },
    { extend: { top: 0, right: 0, bottom: 0, left: 1 } },
    { rotate: 180 },
    { flip: true },
    { flop: true },
    { grayscale: true },
    { negate: true },
    { normalize: true },
    { gamma: 2 },
    { tint: '#ff0000ff' as const },
    { threshold: 9 },
    { median: 3 },
    { blur: 1 },
    { sharpen: 1 },
    { contrast: 1 },
    { pixelate: 2 },
    { chroma: '444' as const },
    { opacity: 0.5 },
    { modulate: { brightness: 1.1, saturation: 1, hue: 0, lightness: 0 } },
  ] satisfies Partial<Variant>[];
  const own = await decodePixels(sources.jpeg);
  for (const change of changes) {
    const { body } = await drawn(sources.jpeg, { ...best, formats: ['jpeg'], ...change });
    t.notSame(await decodePixels(body), own, Object.keys(change).join());
  }
  const mark = watermark({ position: 'center', opacity: 50, scale: 50 });
  const options = { ...best, formats: ['jpeg'], layers: mark } as const;
  t.notSame(await decodePixels((await drawn(sources.jpeg, options, photo)).body), own, 'watermark');
  const first = await drawn(sources['webp, moving'], { formats: ['webp'], animated: false });
  t.equal((await first.header()).pages ?? 1, 1);
});

t.test('encodes a source with relevant metadata again', async (t) => {
  const options = { ...best, formats: ['jpeg'] } as const;
  const small = () => sharp(photo).jpeg({ quality: 30 });
  const turned = await small().withMetadata({ orientation: 6 }).toBuffer();
  t.match(await (await drawn(turned, options)).header(), { width: 80, height: 120 });
  const wide = await small().withIccProfile('p3').toBuffer();
  t.notSame(await decodePixels((await drawn(wide, options)).body), await decodePixels(wide));
  const ordinary = await small().withIccProfile('srgb').toBuffer();
  t.same(
    (await drawn(ordinary, options)).body,
    withoutMetadata(ordinary, 'jpeg'),
    'an sRGB profile is not relevant',
  );
  const swapped = Buffer.from(ordinary);
  for (const [from, to] of [
    ['rXYZ', 'bXYZ'],
    ['bXYZ', 'rXYZ'],
  ] as const) {
    swapped.write(to, ordinary.indexOf(from), 'latin1');
  }
  t.notSame(
    await decodePixels((await drawn(swapped, options)).body),
    await sharp(swapped, { ignoreIcc: true }).raw().toBuffer(),
    'a profile that has only the name of sRGB is',
  );
  const cmyk = await small().toColourspace('cmyk').toBuffer();
  t.equal((await (await drawn(cmyk, options)).header()).space, 'srgb');
});

t.test('removes trailing bytes, previews and unknown parts', async (t) => {
  for (const name of ['jpeg', 'png', 'webp', 'gif'] as const) {
    const more = Buffer.concat([sources[name], Buffer.from(secret)]);
    t.same(withoutMetadata(more, name), withoutMetadata(sources[name], name), name);
  }
  const jfif = Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 19]),
    Buffer.from('JFIF\0\x01\x02\0\0\x01\0\x01\x01\x01abc', 'latin1'),
    withoutMetadata(sources.jpeg, 'jpeg')?.subarray(2) ?? Buffer.alloc(0),
  ]);
  t.notOk(Buffer.from(withoutMetadata(jfif, 'jpeg') ?? 'abc').includes('abc'), 'a preview in JFIF');
});

t.test('rejects or shortens damaged files', async () => {
  const names = fc.constantFrom(...Object.keys(sources));
  const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), {
    maxLength: 6,
  });
  const length = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(names, damage, length, fc.boolean(), (name, changes, part, cut) => {
      const source = sources[name as keyof typeof sources];
      const bytes = Buffer.from(source.subarray(0, cut ? part * source.length : undefined));
      for (const [at, value] of changes) {
        // Prefer the first bytes, which contain most of the structure.
        bytes[Math.floor(at ** 4 * bytes.length)] = value;
      }
      const result = withoutMetadata(bytes, toFormat(name));
      return result === null || result.byteLength <= bytes.byteLength;
    }),
    { numRuns: propertyRuns(1_000) },
  );
});

t.test('does not deliver an unchanged animated PNG as a still image', async (t) => {
  const still = await noise(30, 20).png({ compressionLevel: 9 }).toBuffer();
  const source = withPngChunks(still, [{ type: 'acTL', data: Buffer.of(0, 0, 0, 2, 0, 0, 0, 0) }]);
  const { body } = await drawn(source, { quality: 100, stripMetadata: false });
  t.notOk(Buffer.from(body).includes('acTL'));
});
