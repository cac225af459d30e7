import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newFolder } from '../app.ts';
import type { Builder, BuiltUrl } from './builder.ts';
import { buildWithUnpic, unpicQuery } from './unpic.ts';

const run = promisify(execFile);
const secret = 'FOO123bar';

const sides = (query: string) => `${query}&h=200&w=300`;

/** Builder parameters, and the image's native query. */
const rows: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{}, 'dpr=1'],
  [{ w: 300 }, 'dpr=1&enlarge=1&w=300'],
  [{ h: 200 }, 'dpr=1&enlarge=1&h=200'],
  [{ w: 300, h: 200 }, sides('dpr=1&enlarge=1&fit=inside')],
  [{ w: 300, h: 200, fit: 'clip' }, sides('dpr=1&enlarge=1&fit=inside')],
  [{ w: 300, h: 200, fit: 'crop' }, sides('dpr=1&enlarge=1&fit=cover')],
  [{ w: 300, h: 200, fit: 'scale' }, sides('dpr=1&enlarge=1&fit=fill')],
  [{ w: 300, h: 200, fit: 'fill' }, sides('dpr=1&enlarge=1&fit=contain')],
  [{ w: 300, h: 200, fit: 'max' }, sides('dpr=1&fit=inside')],
  [{ w: 300, h: 200, fit: 'min' }, sides('dpr=1&fit=cover')],
  [{ w: 2_000, fit: 'max' }, 'dpr=1&w=2000'],
  [{ w: 2_000 }, 'dpr=1&enlarge=1&w=2000'],
  ...(
    [
      ['top', 'north'],
      ['top,right', 'northeast'],
      ['right', 'east'],
      ['bottom,right', 'southeast'],
      ['bottom', 'south'],
      ['left,bottom', 'southwest'],
      ['left', 'west'],
      ['top,left', 'northwest'],
      ['entropy', 'entropy'],
    ] as const
  ).map(
    ([crop, pos]) =>
      [
        { w: 300, h: 200, fit: 'crop', crop },
        sides(`dpr=1&enlarge=1&fit=cover&pos=${pos}`),
      ] as const,
  ),
  [
    { w: 300, h: 200, fit: 'crop', crop: 'focalpoint', 'fp-x': 0.2, 'fp-y': 0.7 },
    sides('dpr=1&enlarge=1&fit=cover&fp=0.2,0.7'),
  ],
  [{ w: 300, ar: '16:9', fit: 'crop' }, 'ar=16:9&dpr=1&enlarge=1&fit=cover&w=300'],
  [{ h: 200, ar: '0.85:1', fit: 'crop' }, 'ar=0.85&dpr=1&enlarge=1&fit=cover&h=200'],
  [{ ar: '3:2', fit: 'crop' }, 'ar=3:2&dpr=1&fit=cover'],
  [
    { w: 300, h: 200, fit: 'fill', fill: 'solid', 'fill-color': '8ff0' },
    sides('bg=ff08&dpr=1&enlarge=1&fit=contain'),
  ],
  [{ w: 300, bg: 'tomato' }, 'bg=tomato&dpr=1&enlarge=1&flatten=1&w=300'],
  [{ rect: '100,80,400,300' }, 'crop=100,80,400,300&dpr=1'],
  [{ rect: 'left,top,400,300', w: 200 }, 'crop=0,0,400,300&dpr=1&enlarge=1&w=200'],
  [{ w: 300, dpr: 1.5 }, 'dpr=1.5&enlarge=1&w=300'],
  [{ w: 300, dpr: 3 }, 'dpr=3&enlarge=1&w=300'],
  [{ w: 300, dpr: 4 }, 'dpr=1&enlarge=1&w=1200'],
  [{ w: 300, auto: 'format' }, 'dpr=1&enlarge=1&fmt=auto&w=300'],
  [{ w: 300, auto: 'format,compress' }, 'dpr=1&enlarge=1&fmt=auto&q=45&w=300'],
  [{ w: 300, fm: 'webp', q: 60 }, 'dpr=1&enlarge=1&fmt=webp&q=60&w=300'],
  [{ w: 300, fm: 'jpg', q: 0 }, 'dpr=1&enlarge=1&fmt=jpeg&q=1&w=300'],
  [{ w: 300, fm: 'pjpg' }, 'dpr=1&enlarge=1&fmt=jpeg&progressive=1&w=300'],
  [{ w: 300, fm: 'png32' }, 'dpr=1&enlarge=1&fmt=png&w=300'],
  [{ w: 300, fm: 'webp', lossless: true }, 'dpr=1&enlarge=1&fmt=webp&lossless=1&w=300'],
  [{ w: 300, flip: 'h' }, 'dpr=1&enlarge=1&flop=1&w=300'],
  [{ w: 300, flip: 'hv' }, 'dpr=1&enlarge=1&flip=1&flop=1&w=300'],
  [{ w: 300, sat: -100 }, 'dpr=1&enlarge=1&grayscale=1&w=300'],
  [{ w: 300, invert: true }, 'dpr=1&enlarge=1&negate=1&w=300'],
  [{ w: 300, dl: 'my map.jpg' }, 'download=my%20map&dpr=1&enlarge=1&w=300'],
  [{ w64: '300' }, 'dpr=1&enlarge=1&w=300'],
  [{ w: 300, expires: 4_000_000_000 }, 'dpr=1&enlarge=1&w=300'],
];

const program = `
import { readFileSync } from 'node:fs';
import Client from '@imgix/js-core';
const { secret, paths, rows } = JSON.parse(readFileSync(0, 'utf8'));
const domain = 'img.shop.example';
const clients = [new Client({ domain }), new Client({ domain, secureURLToken: secret })];
const urls = rows.map((params) => paths.map((path, index) => clients[index].buildURL(path, params)));
process.stdout.write(JSON.stringify(urls));
`;

/** Builds each URL of a path, and signed of a web proxy source; and URLs of unpic. */
export const imgixBuilder: Builder = {
  kind: 'imgix',
  signing: { kind: 'imgix', secret },
  corrupt: (url) => url.replace(/s=[0-9a-f]+$/, `s=${'0'.repeat(32)}`),
  async build(parent, source) {
    const folder = await newFolder(join(parent, 'imgix-builder'), ['@imgix/js-core']);
    await writeFile(join(folder, 'build.mjs'), program);
    const running = run(process.execPath, ['build.mjs'], { cwd: folder });
    const paths = ['/a.jpg', source];
    running.child.stdin?.end(JSON.stringify({ secret, paths, rows: rows.map(([given]) => given) }));
    const built: readonly (readonly string[])[] = JSON.parse((await running).stdout);
    const ofLibrary = rows.flatMap(([, native], index): BuiltUrl[] =>
      (built[index] ?? []).map((url, at) => {
        const { pathname, search } = new URL(url);
        return { url: `${pathname}${search}`, native, isSigned: at === 1 };
      }),
    );
    const url = 'https://demo.imgix.net/a.jpg';
    return [...ofLibrary, ...(await buildWithUnpic(parent, 'imgix', url, unpicQuery))];
  },
};
