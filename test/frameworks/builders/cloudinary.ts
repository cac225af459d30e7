import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newFolder } from '../app.ts';
import type { Builder, BuiltUrl } from './builder.ts';
import { buildWithUnpic, unpicQuery } from './unpic.ts';

const run = promisify(execFile);
const secret = 'b-secret';

const gravities = [
  'north',
  'northEast',
  'east',
  'southEast',
  'south',
  'southWest',
  'west',
  'northWest',
];

/** The builder's calls on an image, and the image's native query except its format. */
const rows: readonly (readonly [string, string])[] = [
  ['', 'dpr=1'],
  ['.resize(scale(300))', 'dpr=1&enlarge=1&w=300'],
  ['.resize(scale().height(200))', 'dpr=1&enlarge=1&h=200'],
  ['.resize(scale(300, 300))', 'dpr=1&enlarge=1&fit=fill&h=300&w=300'],
  ['.resize(scale(300).aspectRatio(1.5))', 'ar=1.5&dpr=1&enlarge=1&fit=fill&w=300'],
  ['.resize(scale(2000))', 'dpr=1&enlarge=1&w=2000'],
  ['.resize(fit(300, 300))', 'dpr=1&enlarge=1&fit=inside&h=300&w=300'],
  ['.resize(fit(2000, 2000))', 'dpr=1&enlarge=1&fit=inside&h=2000&w=2000'],
  ['.resize(limitFit(300, 300))', 'dpr=1&fit=inside&h=300&w=300'],
  ['.resize(limitFit(2000))', 'dpr=1&w=2000'],
  ['.resize(fill(300, 200))', 'dpr=1&enlarge=1&fit=cover&h=200&w=300'],
  ['.resize(fill(300).aspectRatio("16:9"))', 'ar=16:9&dpr=1&enlarge=1&fit=cover&w=300'],
  ['.resize(fill().height(200).aspectRatio(1))', 'ar=1&dpr=1&enlarge=1&fit=cover&h=200'],
  ['.resize(fill().aspectRatio(1.5))', 'ar=1.5&dpr=1&fit=cover'],
  ...gravities.map(
    (name) =>
      [
        `.resize(fill(300, 200).gravity(compass(${name}())))`,
        `dpr=1&enlarge=1&fit=cover&h=200&pos=${name.toLowerCase()}&w=300`,
      ] as const,
  ),
  [
    '.resize(fill(300, 200).gravity(autoGravity()))',
    'dpr=1&enlarge=1&fit=cover&h=200&pos=attention&w=300',
  ],
  ['.resize(pad(300, 300))', 'dpr=1&enlarge=1&fit=contain&h=300&w=300'],
  [
    '.resize(pad(300, 300).background(color("white")))',
    'bg=white&dpr=1&enlarge=1&fit=contain&flatten=1&h=300&w=300',
  ],
  [
    '.resize(pad(300, 300).gravity(compass(north())))',
    'dpr=1&enlarge=1&fit=contain&h=300&pos=north&w=300',
  ],
  ['.resize(crop(400, 300).x(100).y(80))', 'crop=100,80,400,300&dpr=1'],
  [
    '.resize(crop(400, 300).x(100).y(80)).resize(scale(200))',
    'crop=100,80,400,300&dpr=1&enlarge=1&w=200',
  ],
  ['.resize(scale(300)).delivery(dpr("2.0"))', 'dpr=2&enlarge=1&w=300'],
  ['.resize(scale(301)).delivery(dpr(4))', 'dpr=1&enlarge=1&w=1204'],
  ['.resize(scale(300)).quality("auto")', 'dpr=1&enlarge=1&q=auto&w=300'],
  ['.resize(scale(300)).quality(60)', 'dpr=1&enlarge=1&q=60&w=300'],
  [
    '.resize(scale(300)).format("auto").quality("auto:good")',
    'dpr=1&enlarge=1&fmt=auto&q=auto&w=300',
  ],
  ['.resize(scale(300)).format("webp")', 'dpr=1&enlarge=1&fmt=webp&w=300'],
  ['.resize(scale(300)).format("png")', 'dpr=1&enlarge=1&fmt=png&w=300'],
  ['.rotate(byAngle(90)).resize(scale(300))', 'dpr=1&enlarge=1&rotate=90&w=300'],
  ['.rotate(byAngle(-90))', 'dpr=1&rotate=270'],
  ['.resize(scale(300)).rotate(mode(horizontalFlip()))', 'dpr=1&enlarge=1&flop=1&w=300'],
  ['.rotate(mode(verticalFlip())).resize(scale(300))', 'dpr=1&enlarge=1&flip=1&w=300'],
  ['.resize(scale(300)).effect(grayscale())', 'dpr=1&enlarge=1&grayscale=1&w=300'],
  ['.resize(scale(300)).effect(negate())', 'dpr=1&enlarge=1&negate=1&w=300'],
  ['.resize(scale(300)).adjust(opacity(50))', 'dpr=1&enlarge=1&opacity=0.5&w=300'],
  ['.backgroundColor("white").resize(scale(300))', 'bg=white&dpr=1&enlarge=1&flatten=1&w=300'],
  ['.addTransformation("t_card")', 'dpr=1&preset=card'],
  ['.namedTransformation(name("card")).format("png")', 'dpr=1&fmt=png&preset=card'],
  ['.resize(scale(300)).addFlag(attachment("map"))', 'download=map&dpr=1&enlarge=1&w=300'],
  ['.resize(scale(300)).addFlag(progressive())', 'dpr=1&enlarge=1&progressive=1&w=300'],
];

const modules = [
  'actions/resize',
  'actions/rotate',
  'actions/effect',
  'actions/adjust',
  'actions/delivery',
  'actions/namedTransformation',
  'qualifiers/gravity',
  'qualifiers/compass',
  'qualifiers/flag',
  'qualifiers/rotationMode',
];

/** The SDK for Node signs the transformations of url-gen, which cannot sign. */
const program = `
import { readFileSync } from 'node:fs';
import { v2 } from 'cloudinary';
import { Cloudinary } from '@cloudinary/url-gen';
import { color } from '@cloudinary/url-gen/qualifiers/background';
${modules.map((name, index) => `import * as module${index} from '@cloudinary/url-gen/${name}';`).join('\n')}
const functions = { ${modules.map((_, index) => `...module${index}`).join(', ')}, color };
const { secret, source, rows } = JSON.parse(readFileSync(0, 'utf8'));
v2.config({ cloud_name: 'demo', api_secret: secret, secure: true, sign_url: true });
const cloudinary = new Cloudinary({ cloud: { cloudName: 'demo' } });
const build = (calls) => {
  const image = cloudinary.image('a.jpg');
  const call = new Function('image', ...Object.keys(functions), 'return image' + calls);
  return call(image, ...Object.values(functions));
};
const urls = rows.map((calls) => {
  const image = build(calls);
  const raw_transformation = image.transformation.toString();
  return [
    image.toURL(),
    v2.url('a.jpg', { raw_transformation, version: 12 }),
    build(calls).setPublicID(source).setDeliveryType('fetch').toURL(),
    v2.url(source, { raw_transformation, type: 'fetch', long_url_signature: true }),
  ];
});
process.stdout.write(JSON.stringify(urls));
`;

/** Builds each URL of an upload and of a fetched source, unsigned and signed; and URLs of unpic. */
export const cloudinaryBuilder: Builder = {
  kind: 'cloudinary',
  signing: { kind: 'cloudinary', secret },
  corrupt: (url) => url.replace(/s--[\w-]+--/, 's--AAAAAAAA--'),
  async build(parent, source) {
    const packages = ['@cloudinary/url-gen', 'cloudinary'];
    const folder = await newFolder(join(parent, 'cloudinary-builder'), packages);
    await writeFile(join(folder, 'build.mjs'), program);
    const running = run(process.execPath, ['build.mjs'], { cwd: folder });
    running.child.stdin?.end(
      JSON.stringify({ secret, source, rows: rows.map(([calls]) => calls) }),
    );
    const built: readonly (readonly string[])[] = JSON.parse((await running).stdout);
    const ofLibrary = rows.flatMap(([, native], index): BuiltUrl[] =>
      (built[index] ?? []).map((url, at) => {
        const { pathname, search } = new URL(url);
        const ofUpload = native.includes('fmt=') ? native : `${native}&fmt=jpeg`;
        const query = at < 2 ? ofUpload : native;
        return {
          url: `${pathname}${search}`,
          native: at === 1 ? `${query}&v=12` : query,
          isSigned: at % 2 === 1,
        };
      }),
    );
    const url = 'https://res.cloudinary.com/demo/image/upload/a.jpg';
    return [...ofLibrary, ...(await buildWithUnpic(parent, 'cloudinary', url, unpicQuery))];
  },
};
