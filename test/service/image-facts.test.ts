import { Ajv2020 } from 'ajv/dist/2020.js';
import sharp, { type Sharp } from 'sharp';
import t, { type Test } from 'tap';
import { createImageUrls, type ImageFacts } from '../../sdk/src/index.ts';
import { jpegSegment, withSegments } from '../hostile/inputs/chunks.ts';
import { animation, blue, filled, noise, quarters, red } from '../pool/rendering/pictures.ts';
import { startFrontEnd } from './front-end.ts';
import { json } from './service.ts';

const { url, origin, store, project, createProject } = await startFrontEnd(t);
/** This project keeps metadata. */
const open = await createProject('127.0.0.1');
await store.projects.updateSettings(open, { stripMetadata: false });

const { components } = await json(await fetch(`${url}/openapi.json`));
/** The schema in the interface specification, made strict: it rejects additional fields. */
const schema = JSON.parse(JSON.stringify(components.schemas.ImageFacts), (_, value) =>
  value?.properties === undefined ? value : { ...value, additionalProperties: false },
);
const validate = new Ajv2020({ strict: false }).compile(schema);

const target = (path: string, query: string, of = project) =>
  `${url}/img/${origin.url}${path}?project=${of}&${query}`;

async function facts(t: Test, path: string, query = '', of = project): Promise<ImageFacts> {
  const response = await fetch(target(path, `${query}&fmt=json`, of));
  const answer = await json(response);
  t.equal(response.status, 200, `${path}?${query}`);
  t.ok(validate(answer), JSON.stringify(validate.errors));
  return answer;
}

const load = async (path: string, query: string, of = project) =>
  Buffer.from(await (await fetch(target(path, query, of))).arrayBuffer());

/** Waves of different lengths, which depend on a number. */
function waves(width: number, height: number, phase = 0): Sharp {
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < pixels.length; at += 3) {
    const [x, y] = [((at / 3) % width) / width, Math.floor(at / 3 / width) / height];
    pixels[at] = 128 + 120 * Math.sin(phase + 9 * x + 4 * y * y);
    pixels[at + 1] = 128 + 120 * Math.sin(2 * phase + 7 * y + 5 * x * y);
    pixels[at + 2] = 128 + 120 * Math.sin(3 * phase + 11 * x * x + 3 * y);
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** A camera image with a location. */
const photo = await waves(600, 400)
  .withExif({
    IFD0: {
      Make: 'Nikon',
      Model: 'Z 9',
      Artist: 'A. Photographer',
      Copyright: '2026 A. Photographer',
      Software: '1.0',
    },
    IFD2: {
      ExposureTime: '1/250',
      FNumber: '28/10',
      ISOSpeedRatings: '400',
      FocalLength: '50/1',
      LensModel: '50mm f/1.8',
      DateTimeOriginal: '2026:07:01 10:20:30',
      OffsetTimeOriginal: '+02:00',
    },
    IFD3: {
      GPSLatitude: '51/1 30/1 0/1',
      GPSLatitudeRef: 'N',
      GPSLongitude: '0/1 7/1 30/1',
      GPSLongitudeRef: 'W',
    },
  })
  .jpeg()
  .toBuffer();
origin.serve('/photo.jpg', photo);

t.test('returns the source, the output and its size', async (t) => {
  const { source, output } = await facts(t, '/photo.jpg', 'w=300&q=70');
  const image = await load('/photo.jpg', 'w=300&q=70');
  t.same(source, {
    format: 'jpeg',
    width: 600,
    height: 400,
    bytes: photo.byteLength,
    pages: 1,
    frames: 1,
    hasAlpha: false,
    orientation: 1,
    profile: null,
  });
  t.same(output, { format: 'jpeg', width: 300, height: 200, bytes: image.byteLength });
});

t.test('returns frames, transparency, orientation and the profile name', async (t) => {
  origin.serve(
    '/moving.webp',
    await animation('webp', [red, blue, red], { width: 30, height: 20 }),
  );
  origin.serve('/clear.png', await filled(30, 20, '#ff000080', 4).png().toBuffer());
  const turned = filled(30, 20, 'red').withMetadata({ orientation: 6 });
  origin.serve('/turned.jpg', await turned.jpeg().toBuffer());
  origin.serve('/wide.jpg', await filled(30, 20, 'red').withIccProfile('p3').jpeg().toBuffer());
  const moving = await facts(t, '/moving.webp');
  t.match(moving, { source: { frames: 3, pages: 3 }, output: { format: 'gif', height: 20 } });
  t.same(moving.palette, [{ color: '#ff0000', share: 1 }], 'of the first frame');
  t.match(await facts(t, '/clear.png'), { source: { hasAlpha: true, frames: 1 } });
  t.match(await facts(t, '/turned.jpg'), { source: { orientation: 6, width: 20, height: 30 } });
  t.match(await facts(t, '/wide.jpg'), { source: { profile: /P3/ } });
});

t.test("returns the image's own EXIF: nothing, author and copyright, or everything", async (t) => {
  const all = {
    cameraMake: 'Nikon',
    cameraModel: 'Z 9',
    lens: '50mm f/1.8',
    software: '1.0',
    takenAt: '2026-07-01T10:20:30+02:00',
    exposureTime: 0.004,
    fNumber: 2.8,
    iso: 400,
    focalLength: 50,
    artist: 'A. Photographer',
    copyright: '2026 A. Photographer',
    latitude: 51.5,
    longitude: -0.125,
  };
  const { artist, copyright } = all;
  const exif = async (query: string, of: string) => (await facts(t, '/photo.jpg', query, of)).exif;
  const hasExif = async (query: string, of: string) =>
    (await sharp(await load('/photo.jpg', query, of)).metadata()).exif !== undefined;
  for (const query of ['', 'w=100', 'q=100', 'hue=90']) {
    t.same(await exif(query, project), {}, `stripped: ${query}`);
    t.notOk(await hasExif(query, project));
    t.same(await exif(query, open), all, `kept: ${query}`);
    t.ok(await hasExif(query, open));
    for (const of of [project, open]) {
      t.same(await exif(`${query}&keep=copyright`, of), { artist, copyright }, query);
    }
  }
});

t.test(
  'returns no fields from EXIF that is unreadable or shares bytes between values',
  async (t) => {
    /** Returns a directory with the camera maker, and entries that refer to the same bytes. */
    const directory = (entries: number, at: number) => {
      const exif = Buffer.alloc(60_000);
      exif.write('Exif\0\0II*\0', 0, 'latin1');
      exif.writeUInt32LE(8, 10);
      exif.writeUInt16LE(entries + 1, 14);
      const put = (entry: number, tag: number, type: number, count: number, value: number) => {
        const from = 16 + 12 * entry;
        exif.writeUInt16LE(tag, from);
        exif.writeUInt16LE(type, from + 2);
        exif.writeUInt32LE(count, from + 4);
        exif.writeUInt32LE(value, from + 8);
      };
      put(0, 0x010f, 2, 4, Buffer.from('Abc\0').readUInt32LE());
      for (let entry = 1; entry <= entries; entry += 1) put(entry, 0x0111, 3, 29_000, at);
      return exif;
    };
    const bare = await waves(60, 40).jpeg({ quality: 10 }).toBuffer();
    const known = { cameraMake: 'Abc' };
    for (const [name, exif, expected] of [
      ['intact', directory(0, 0), known],
      ['shared', directory(4_900, 8), {}],
      // libexif leaves out such a value.
      ['outside', directory(1, 0xffff_fff0), known],
      ['text', Buffer.from(`Exif\0\0${'?'.repeat(100)}`), {}],
    ] as const) {
      origin.serve(`/${name}.jpg`, withSegments(bare, jpegSegment(0xe1, exif)));
      t.same((await facts(t, `/${name}.jpg`, 'q=100', open)).exif, expected, name);
    }
  },
);

t.test("returns the image's colours and their shares as the palette", async (t) => {
  // A sign of 1 % on grey, above white.
  const sign = await filled(20, 20, '#e01020').png().toBuffer();
  const page = filled(200, 100, '#ffffff').extend({ bottom: 100, background: '#606870' });
  const composed = sharp(await page.png().toBuffer()).composite([
    { input: sign, left: 50, top: 150 },
  ]);
  origin.serve('/page.png', await composed.png().toBuffer());
  const { palette, dominant } = await facts(t, '/page.png');
  const near = (color: string, share: number) =>
    t.ok(
      palette.some((entry) => entry.color === color && Math.abs(entry.share - share) < 0.02),
      `${color}: ${JSON.stringify(palette)}`,
    );
  near('#ffffff', 0.5);
  near('#606870', 0.49);
  near('#e01020', 0.01);
  t.equal(dominant, palette[0]?.color);
  const shares = palette.map(({ share }) => share);
  t.same(
    shares,
    [...shares].sort((a, b) => b - a),
    'by descending share',
  );
  const { palette: many, dominant: dominantColour } = await facts(t, '/photo.jpg');
  t.equal(many.length, 5);
  t.ok(many.some(({ color }) => color === dominantColour));
  t.ok(Math.abs(many.reduce((sum, { share }) => sum + share, 0) - 1) < 0.01);
  origin.serve('/nothing.png', await filled(20, 20, '#00000000', 4).png().toBuffer());
  t.match(await facts(t, '/nothing.png'), { palette: [], dominant: null });
});

t.test('returns the attention point as focus, in the coordinates of fp', async (t) => {
  const spot = await quarters(60, 60).png().toBuffer();
  for (const [left, top, width, height] of [
    [470, 40, 600, 300],
    [40, 320, 300, 600],
    [200, 30, 300, 300],
  ] as const) {
    const grey = filled(width, height, '#808488').composite([{ input: spot, left, top }]);
    origin.serve('/spot.png', await grey.png().toBuffer());
    const version = `v=${width}-${height}`;
    const { x, y } = (await facts(t, '/spot.png', version)).focus;
    const middle = [(left + 30) / width, (top + 30) / height] as const;
    t.ok(Math.abs(x - middle[0]) < 0.1 && Math.abs(y - middle[1]) < 0.1, `${x}, ${y}: ${middle}`);
    const cut = `${version}&fmt=png&w=100&h=100`;
    const [attention, point] = await Promise.all(
      [`${cut}&pos=attention`, `${cut}&fp=${x},${y}`].map(async (query) =>
        sharp(await load('/spot.png', query))
          .removeAlpha()
          .raw()
          .toBuffer(),
      ),
    );
    const differing = attention?.reduce(
      (sum, value, at) => sum + Math.abs(value - (point?.[at] ?? 0)),
      0,
    );
    t.ok(Number(differing) / (attention?.length ?? 1) < 20, `the same cut: ${differing}`);
  }
  origin.serve('/pixel.png', await filled(1, 1, 'red').png().toBuffer());
  t.same((await facts(t, '/pixel.png')).focus, { x: 0.5, y: 0.5 });
});

t.test(
  'returns near hashes for versions of an image, and distant hashes for other images',
  async (t) => {
    const bits = (a: string, b: string) =>
      (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2).replaceAll('0', '').length;
    const hash = async (query: string, path = '/photo.jpg') =>
      (await facts(t, path, query)).perceptualHash;
    const own = await hash('');
    t.equal(own, await hash('v=2'), 'the same for the same bytes');
    for (const query of ['w=150', 'q=10', 'w=90', 'w=200&h=200&fit=fill']) {
      const distance = bits(own, await hash(query));
      t.ok(distance <= 6, `${query}: ${distance}`);
    }
    origin.serve('/webp.webp', await sharp(photo).resize(333).webp({ quality: 30 }).toBuffer());
    t.ok(bits(own, await hash('', '/webp.webp')) <= 6, 'a recompressed copy');
    origin.serve('/noise.png', await noise(300, 200).png().toBuffer());
    for (const phase of [1, 2, 4]) {
      origin.serve(`/${phase}.png`, await waves(300, 200, phase).png().toBuffer());
      const distance = bits(own, await hash('', `/${phase}.png`));
      t.ok(distance >= 16, `another picture: ${distance}`);
    }
    t.ok(bits(own, await hash('', '/noise.png')) >= 16);
    t.ok(bits(own, await hash('rotate=90')) >= 16, 'turned');
  },
);

t.test('returns the same hash as phash of ImageHash 4.3.2', async (t) => {
  origin.serve('/waves.png', await waves(256, 256).png().toBuffer());
  t.equal((await facts(t, '/waves.png')).perceptualHash, 'f4e5c8b56a556854');
  origin.serve('/plain.png', await filled(40, 30, '#345678').png().toBuffer());
  t.equal((await facts(t, '/plain.png')).perceptualHash, '8000000000000000');
});

t.test('returns typed facts from the SDK', async (t) => {
  const urls = createImageUrls({ baseUrl: url, project, origin: origin.url });
  const found = await urls.facts('/photo.jpg', { w: 60 });
  t.ok(validate(found), JSON.stringify(validate.errors));
  const [first] = found?.palette ?? [];
  t.match(first, { color: /^#/, share: Number });
  t.same(found?.output.width, 60);
});
