import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { imgproxySignature } from '../../../urls/src/imgproxy/imgproxy.ts';
import { newFolder } from '../app.ts';
import type { Builder, BuiltUrl } from './builder.ts';

type Options = Readonly<Record<string, unknown>>;

/** Builder options, and the image's native query. */
const rows: readonly (readonly [Options, string])[] = [
  [{}, 'dpr=1'],
  [{ width: 300 }, 'dpr=1&w=300'],
  [{ w: 333 }, 'dpr=1&w=333'],
  [{ height: 200 }, 'dpr=1&h=200'],
  [{ size: { width: 300, height: 200 } }, 'dpr=1&fit=inside&h=200&w=300'],
  [{ s: { width: 2_000, enlarge: true } }, 'dpr=1&enlarge=1&w=2000'],
  [
    { resize: { resizing_type: 'fill', width: 300, height: 200 } },
    'dpr=1&enlarge=box&fit=cover&h=200&w=300',
  ],
  [
    { resize: { resizing_type: 'fill', width: 2_000, height: 500 } },
    'dpr=1&enlarge=box&fit=cover&h=500&w=2000',
  ],
  [{ rs: { resizing_type: 'force', width: 90, height: 200 } }, 'dpr=1&fit=fill&h=200&w=90'],
  [{ resizing_type: 'fill-down', width: 2_000, height: 500 }, 'dpr=1&fit=cover&h=500&w=2000'],
  [{ rt: 'fit', w: 200, h: 100 }, 'dpr=1&fit=inside&h=100&w=200'],
  ...(
    [
      ['no', 'north'],
      ['noea', 'northeast'],
      ['ea', 'east'],
      ['soea', 'southeast'],
      ['so', 'south'],
      ['sowe', 'southwest'],
      ['we', 'west'],
      ['nowe', 'northwest'],
      ['ce', 'center'],
      ['sm', 'attention'],
    ] as const
  ).map(
    ([type, pos]) =>
      [
        { rt: 'fill', w: 200, h: 200, gravity: { type } },
        `dpr=1&enlarge=box&fit=cover&h=200&pos=${pos}&w=200`,
      ] as const,
  ),
  [
    { rt: 'fill', w: 200, h: 200, g: { type: 'fp', x: 0.2, y: 0.7 } },
    'dpr=1&enlarge=box&fit=cover&fp=0.2,0.7&h=200&w=200',
  ],
  [{ w: 1_700, enlarge: 't' }, 'dpr=1&enlarge=1&w=1700'],
  [{ w: 2_000, h: 300, extend: { extend: true } }, 'dpr=1&enlarge=box&fit=contain&h=300&w=2000'],
  [
    { w: 300, h: 300, ex: { extend: 1, gravity: { type: 'no' } } },
    'dpr=1&enlarge=box&fit=contain&h=300&pos=north&w=300',
  ],
  [
    { w: 2_000, h: 2_000, extend_aspect_ratio: { extend: true }, background: 'fff' },
    'bg=fff&dpr=1&fit=contain&flatten=1&h=2000&w=2000',
  ],
  [
    { crop: { width: 400, height: 300, gravity: { type: 'nowe', x_offset: 100, y_offset: 80 } } },
    'crop=100,80,400,300&dpr=1',
  ],
  [{ w: 300, trim: { threshold: 10 } }, 'dpr=1&trim=10.0&w=300'],
  [{ w: 300, padding: { top: 10, left: 20 } }, 'dpr=1&extend=10,10,10,20&w=300'],
  [{ w: 300, dpr: 2 }, 'dpr=2&w=300'],
  [{ w: 301, zoom: 1.5 }, 'dpr=1&w=452'],
  [{ w: 300, auto_rotate: true }, 'dpr=1&w=300'],
  [{ w: 300, rotate: 90 }, 'dpr=1&rotate=90&w=300'],
  [{ w: 300, flip: { horizontal: true } }, 'dpr=1&flop=1&w=300'],
  [{ w: 300, bg: { r: 255, g: 128, b: 0 }, f: 'jpg' }, 'bg=ff8000&dpr=1&flatten=1&fmt=jpeg&w=300'],
  [{ w: 300, blur: 5 }, 'blur=5&dpr=1&w=300'],
  [{ w: 300, sharpen: 2 }, 'dpr=1&sharpen=2&w=300'],
  [{ w: 300, quality: 60 }, 'dpr=1&q=60&w=300'],
  [{ w: 300, max_bytes: 9_000, f: 'webp' }, 'dpr=1&fmt=webp&maxbytes=9000&w=300'],
  [{ w: 300, format: 'png' }, 'dpr=1&fmt=png&w=300'],
  [{ w: 300, cachebuster: 'abc1' }, 'dpr=1&v=abc1&w=300'],
  [{ w: 300, strip_metadata: true, keep_copyright: true }, 'dpr=1&keep=copyright&w=300'],
  [{ w: 300, strip_color_profile: false }, 'dpr=1&icc=keep&w=300'],
  [{ w: 300, return_attachment: true, filename: { name: 'map' } }, 'download=map&dpr=1&w=300'],
  [{ preset: ['card'] }, 'preset=card'],
  [{ quality: 40, preset: ['card'], w: 100 }, 'preset=card&q=40&w=100'],
];

const [key, salt] = ['0123456789abcdef', 'fedcba98'];

interface Library {
  generateUrl(url: { value: string; type: string }, options: Options): string;
}

/** Builds each URL with a plain source and with one in base64url, one of them signed. */
export const imgproxyBuilder: Builder = {
  kind: 'imgproxy',
  signing: { kind: 'imgproxy', secret: key, salt },
  async build(parent, source) {
    const name = '@imgproxy/imgproxy-js-core';
    const folder = await newFolder(join(parent, 'imgproxy-builder'), [name]);
    const file = join(folder, 'node_modules', name, 'dist/imgproxy-js-core.mjs');
    const { generateUrl }: Library = await import(pathToFileURL(file).href);
    const encoded = Buffer.from(source).toString('base64url');
    return rows.flatMap(([options, native]): BuiltUrl[] => {
      const plain = generateUrl({ value: source, type: 'plain' }, options);
      const base64 = generateUrl({ value: encoded, type: 'base64' }, options);
      return [
        { url: `/unsafe${plain}`, native, isSigned: false },
        { url: `/${imgproxySignature(key, salt, base64)}${base64}`, native, isSigned: true },
      ];
    });
  },
};
