import { decode, isBlurhashValid } from 'blurhash';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { thumbHashToAverageRGBA, thumbHashToRGBA } from 'thumbhash';
import { type Description, placeholders } from '../../../pool/rendering/placeholders.ts';
import type { PlaceholderKind } from '../../../pool/variant.ts';
import { formatNamed } from '../formats/named.ts';
import { blue, green, near, quarters, red, sourceFacts, yellow } from './pictures.ts';

const output = await quarters(150, 100).webp().toBuffer();
const description: Description = {
  source: sourceFacts(300, 200, { format: formatNamed('png') }),
  bytes: 1234,
  output: async () => ({ format: 'webp', width: 150, height: 100, body: output }),
};

async function placeholder(name: PlaceholderKind, image: Sharp): Promise<string> {
  return new TextDecoder().decode(await placeholders[name].make(image, description));
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** Red, green, blue and yellow, each in the middle of its quarter. */
const middles = [
  [0.25, 0.25, red],
  [0.75, 0.25, green],
  [0.25, 0.75, blue],
  [0.75, 0.75, yellow],
] as const;

/** Returns an image with a single-colour left half and a transparent right half. */
async function halfTransparent(width: number, height: number): Promise<Sharp> {
  const half = { width: width / 2, height, channels: 4 as const, background: '#c03020' };
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  const image = sharp({ create: half }).extend({ right: width / 2, background: clear });
  return sharp(await image.png().toBuffer());
}

/** Colours come out weaker than they were: what counts is which are strong. */
function leans(actual: readonly number[], colour: readonly number[]): boolean {
  const strong = actual.filter((_, index) => colour[index] === 255);
  const weak = actual.filter((_, index) => colour[index] === 0);
  return Math.min(...strong) > Math.max(...weak) + 40;
}

t.test("decodes a blurhash to the image's colours", async (t) => {
  const hash = await placeholder('blurhash', quarters(300, 200));
  t.ok(isBlurhashValid(hash).result);
  const pixels = decode(hash, 32, 32);
  for (const [x, y, colour] of middles) {
    const at = (y * 32 * 32 + x * 32) * 4;
    t.ok(leans([...pixels.subarray(at, at + 3)], colour), `${x}, ${y}`);
  }
});

t.test('uses four blurhash components on the longer side', async (t) => {
  const components = async (width: number, height: number) => {
    const size = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabc'.indexOf(
      (await placeholder('blurhash', quarters(width, height))).charAt(0),
    );
    return [(size % 9) + 1, Math.floor(size / 9) + 1];
  };
  t.same(await components(300, 200), [4, 3]);
  t.same(await components(200, 300), [3, 4]);
  t.same(await components(90, 90), [4, 4]);
  t.same(await components(900, 3), [4, 1]);
});

t.test('uses white for transparent pixels in a blurhash', async (t) => {
  const pixels = decode(await placeholder('blurhash', await halfTransparent(80, 60)), 32, 32);
  t.ok(near([...pixels.subarray((16 * 32 + 24) * 4).subarray(0, 3)], [255, 255, 255], 40));
});

t.test("decodes a thumbhash to the image's colours", async (t) => {
  const { w, h, rgba } = thumbHashToRGBA(
    fromBase64(await placeholder('thumbhash', quarters(300, 200))),
  );
  t.ok(Math.abs(w / h - 1.5) < 0.2);
  for (const [x, y, colour] of middles) {
    const at = (Math.floor(y * h) * w + Math.floor(x * w)) * 4;
    t.ok(leans([...rgba.subarray(at, at + 3)], colour), `${x}, ${y}`);
  }
});

t.test('keeps a single colour in hashes of any size', async (t) => {
  const sizes = [
    [1, 1],
    [2, 2],
    [1, 5],
    [30, 30],
    [5000, 1],
  ] as const;
  for (const [width, height] of sizes) {
    for (const alpha of [1, 0.5]) {
      const background = { r: 0xc0, g: 0x30, b: 0x20, alpha };
      const picture = sharp({ create: { width, height, channels: 4, background } });
      const thumb = thumbHashToRGBA(fromBase64(await placeholder('thumbhash', picture)));
      const blur = decode(await placeholder('blurhash', picture), 8, 8);
      const onWhite = [0xc0, 0x30, 0x20].map((value) => value * alpha + 255 * (1 - alpha));
      for (const [pixels, colour] of [
        [thumb.rgba, [0xc0, 0x30, 0x20, 255 * alpha]],
        [blur, [...onWhite, 255]],
      ] as const) {
        for (let at = 0; at < pixels.length; at += 4) {
          const found = [...pixels.subarray(at, at + 4)];
          if (!near(found, colour, 12)) return t.fail(`${width} x ${height}, ${alpha}: ${found}`);
        }
      }
    }
  }
  t.pass();
});

t.test('keeps transparency in a thumbhash', async (t) => {
  const hash = fromBase64(await placeholder('thumbhash', await halfTransparent(80, 60)));
  const { r, g, b, a } = thumbHashToAverageRGBA(hash);
  t.ok(Math.abs(a - 0.5) < 0.1, `half: ${a}`);
  t.ok(near([r * 255, g * 255, b * 255], [0xc0, 0x30, 0x20], 14), 'its colour is not darkened');
});

t.test('returns an lqip as a tiny WebP in a data URI', async (t) => {
  const uri = await placeholder('lqip', quarters(300, 200));
  t.ok(uri.startsWith('data:image/webp;base64,'));
  t.ok(uri.length < 1024);
  const { data, info } = await sharp(fromBase64(uri.slice(uri.indexOf(',') + 1)))
    .raw()
    .toBuffer({ resolveWithObject: true });
  t.same([info.width, info.height], [20, 13]);
  for (const [x, y, colour] of middles) {
    const at = (Math.floor(y * 13) * 20 + x * 20) * info.channels;
    t.ok(near([...data.subarray(at, at + 3)], colour, 40), `${x}, ${y}`);
  }
});

t.test('keeps an lqip of transparent noise below 1 KB', async (t) => {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 90 };
  const create = { width: 20, height: 20, channels: 3 as const, background: 'red', noise };
  const alpha = await sharp({ create }).extractChannel(0).png().toBuffer();
  const lively = await sharp({ create }).joinChannel(alpha).png().toBuffer();
  const uri = await placeholder('lqip', sharp(lively));
  t.ok(uri.length < 1024, `${uri.length}`);
});

t.test('returns placeholders of the transformed image', async (t) => {
  const cut = () =>
    quarters(300, 200).extract({ left: 0, top: 0, width: 60, height: 90 }).resize({ width: 40 });
  t.equal(JSON.parse(await placeholder('json', cut())).dominant, '#ff0000');
  const { w, h } = thumbHashToRGBA(fromBase64(await placeholder('thumbhash', cut())));
  t.ok(w < h, 'the aspect ratio of the crop');
  const image = cut();
  await placeholder('lqip', image);
  const { info } = await image.png().toBuffer({ resolveWithObject: true });
  t.same([info.width, info.height, info.channels], [40, 60, 3], 'the image can still be written');
});

t.test('returns placeholders of grey, 16-bit, one-pixel and very wide images', async (t) => {
  const grey = await quarters(90, 60).toColourspace('b-w').png().toBuffer();
  const deep = await quarters(90, 60).toColourspace('rgb16').png().toBuffer();
  const pictures = { grey, deep, pixel: await quarters(1, 1).png().toBuffer() };
  const wide = await quarters(5000, 1).png().toBuffer();
  for (const [name, picture] of Object.entries({ ...pictures, wide })) {
    for (const kind of ['blurhash', 'thumbhash', 'lqip', 'json'] as const) {
      t.ok((await placeholder(kind, sharp(picture))).length > 6, `${kind} of ${name}`);
    }
  }
  t.equal(JSON.parse(await placeholder('json', sharp(deep))).dominant, '#ff0000');
  const half = await placeholder('json', await halfTransparent(80, 60));
  t.equal(JSON.parse(half).dominant, '#c03020', 'without transparent pixels');
  const oneChannel = sharp(grey).toColourspace('b-w');
  t.match(JSON.parse(await placeholder('json', oneChannel)).dominant, /^#(..)\1\1$/);
});
