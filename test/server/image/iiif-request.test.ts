import t from 'tap';
import { iiif } from '../../../urls/src/iiif.ts';

type IiifVersion = 2 | 3;
const full = { width: 1600, height: 1000 };

function read(version: IiifVersion, path: string, maxWidth = 10_000) {
  const host = {
    base: 'https://a.example/',
    isAllowedHost: () => false,
    presets: {},
    stripMetadata: true,
    maxSide: maxWidth,
    maxArea: 40_000_000,
  };
  const translation = iiif.translate(`/${version}/a/${path}`, '', host);
  if (translation.kind !== 'needsSize') throw new Error(translation.kind);
  const sized = translation.resolve(full, { origin: '', accept: '' });
  if (sized.kind !== 'image') throw new Error(sized.kind);
  const { query } = sized;
  const side = (name: string) => Number(query.get(name));
  return { width: side('w'), height: side('h'), crop: query.get('crop') };
}

const sizes: readonly (readonly [version: IiifVersion, size: string, string])[] = [
  [3, 'max', '1600x1000'],
  [3, '800,', '800x500'],
  [3, ',333', '533x333'],
  [3, '801,77', '801x77'],
  [3, 'pct:33.3', '533x333'],
  [3, 'pct:100', '1600x1000'],
  [3, '!400,400', '400x250'],
  [3, '!2000,250', '400x250'],
  [3, '^max', '8000x5000'],
  [3, '^3200,', '3200x2000'],
  [3, '^100,', '100x63'],
  [3, '^!3000,3000', '3000x1875'],
  [3, '^!90000,90000', '8000x5000'],
  [3, '^pct:150', '2400x1500'],
  [3, '1,', '1x1'],
  [2, 'full', '1600x1000'],
  [2, 'max', '1600x1000'],
  [2, '3200,', '3200x2000'],
  [2, '!3000,3000', '3000x1875'],
  [2, '800,100', '800x100'],
];

t.test('computes the size', async (t) => {
  for (const [version, size, expected] of sizes) {
    const image = read(version, `full/${size}/0/default.jpg`);
    t.equal(`${image.width}x${image.height}`, expected, size);
  }
});

t.test("cuts the region at the source's edges", async (t) => {
  for (const [region, crop] of [
    ['full', undefined],
    ['0,0,1600,1000', undefined],
    ['0,0,9999,9999', undefined],
    ['pct:0,0,100,100', undefined],
    ['square', '300,0,1000,1000'],
    ['100,200,300,400', '100,200,300,400'],
    ['1500,900,512,512', '1500,900,100,100'],
    ['pct:50,.5,25.5,99.9', '800,5,408,995'],
  ] as const) {
    const image = read(3, `${region}/max/0/default.jpg`);
    t.equal(image.crop, crop, region);
  }
});

t.test('turns and mirrors the scaled region', async (t) => {
  for (const [rotation, expected] of [
    ['90', '500x800'],
    ['!180', '800x500'],
    ['360', '800x500'],
    ['22.50', '930x768'],
    ['!.5', '804x507'],
  ] as const) {
    const image = read(3, `full/800,/${rotation}/gray.png`);
    t.equal(`${image.width}x${image.height}`, expected, rotation);
  }
});

t.test('rejects values that the API does not allow', async (t) => {
  const rejected = (version: IiifVersion, path: string, maxWidth = 10_000) =>
    t.throws(() => read(version, path, maxWidth), { code: 'parameter_invalid' }, path);
  for (const region of ['', 'Full', '0,0,0,5', '1600,0,5,5', '1,2,3', '-1,0,5,5', '1.5,0,5,5']) {
    rejected(3, `${region}/max/0/default.jpg`);
  }
  for (const region of ['pct:0,0,0.01,5', 'pct:100,0,5,5', 'pct:1e1,0,5,5', '9999999999,0,5,5']) {
    rejected(3, `${region}/max/0/default.jpg`);
  }
  const both = ['', ',', '0,', '!0,5', 'pct:0', 'pct:0.001', '-5,', '5', '1e2,', 'w,h', '50000,'];
  for (const size of [...both, '10001,', '9000,9000', 'pct:900000']) {
    rejected(3, `full/^${size}/0/default.jpg`);
    rejected(2, `full/${size}/0/default.jpg`);
  }
  for (const size of ['full', '1601,', ',1001', '1600,1001', 'pct:100.1', '!1700,1100', '^full']) {
    rejected(3, `full/${size}/0/default.jpg`);
  }
  for (const size of ['^max', '^800,']) rejected(2, `full/${size}/0/default.jpg`);
  for (const rotation of ['', '361', '-90', '!', '9e1', '90!', 'left']) {
    rejected(3, `full/max/${rotation}/default.jpg`);
  }
  rejected(3, 'full/800,800/45/default.jpg');
  for (const file of ['default', 'default.', 'default.tif', 'native.jpg', 'a.b.jpg', '.jpg']) {
    rejected(3, `full/max/0/${file}`);
  }
  rejected(3, 'full/900,/0/default.jpg', 800);
  rejected(3, 'full/500,800/90/default.jpg', 700);
  t.equal(read(3, 'full/max/0/default.jpg', 800).width, 800, "the project's maximum width");
});
