import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Builder, BuiltUrl } from './builder.ts';

const run = promisify(execFile);
const secret = 'MY_SECURE_KEY';

type Options = Readonly<Record<string, unknown>>;

const filtered = (filter: string): Options => ({ width: 300, filters: [filter] });

/** Builder options, and the image's native query. */
const rows: readonly (readonly [Options, string])[] = [
  [{}, 'dpr=1'],
  [{ width: 300 }, 'dpr=1&enlarge=1&w=300'],
  [{ height: 200 }, 'dpr=1&enlarge=1&h=200'],
  [{ width: 300, height: 200 }, 'dpr=1&enlarge=1&fit=cover&h=200&w=300'],
  [{ width: 1_700, height: 500 }, 'dpr=1&enlarge=1&fit=cover&h=500&w=1700'],
  ...(
    [
      ['left', 'top', 'northwest'],
      ['left', 'middle', 'west'],
      ['left', 'bottom', 'southwest'],
      ['center', 'top', 'north'],
      ['center', 'bottom', 'south'],
      ['right', 'top', 'northeast'],
      ['right', 'middle', 'east'],
      ['right', 'bottom', 'southeast'],
    ] as const
  ).flatMap(
    ([halign, valign, pos]) =>
      [
        [
          { width: 200, height: 200, halign, valign },
          `dpr=1&enlarge=1&fit=cover&h=200&pos=${pos}&w=200`,
        ],
        [
          { width: 300, height: 90, halign, valign },
          `dpr=1&enlarge=1&fit=cover&h=90&pos=${pos}&w=300`,
        ],
      ] as const,
  ),
  [{ width: 200, height: 200, smart: true }, 'dpr=1&enlarge=1&fit=cover&h=200&pos=attention&w=200'],
  [{ flip: true }, 'dpr=1&flop=1'],
  [{ flop: true }, 'dpr=1&flip=1'],
  [{ width: 300, flip: true }, 'dpr=1&enlarge=1&flop=1&w=300'],
  [
    { width: 200, height: 200, flip: true, flop: true, halign: 'left' },
    'dpr=1&enlarge=1&fit=cover&flip=1&flop=1&h=200&pos=east&w=200',
  ],
  [{ width: 300, height: 300, fit_in: true }, 'dpr=1&fit=inside&h=300&w=300'],
  [{ width: 300, height: 300, full_fit_in: true }, 'dpr=1&enlarge=1&fit=outside&h=300&w=300'],
  [{ width: 300, height: 300, adaptive_fit_in: true }, 'dpr=1&fit=inside&h=300&w=300'],
  [{ width: 2_000, fit_in: true }, 'dpr=1&w=2000'],
  [
    { width: 300, height: 300, fit_in: true, filters: ['fill(ff8000)'] },
    'bg=ff8000&dpr=1&enlarge=box&fit=contain&h=300&w=300',
  ],
  [
    { width: 2_000, height: 2_000, fit_in: true, filters: ['upscale()'] },
    'dpr=1&enlarge=1&fit=inside&h=2000&w=2000',
  ],
  [
    {
      crop: [
        [100, 80],
        [500, 380],
      ],
    },
    'crop=100,80,400,300&dpr=1',
  ],
  [
    {
      crop: [
        [100, 80],
        [500, 380],
      ],
      width: 200,
      height: 200,
    },
    'crop=100,80,400,300&dpr=1&enlarge=1&fit=cover&h=200&w=200',
  ],
  [{ trim: true, width: 300 }, 'dpr=1&enlarge=1&trim=0.1&w=300'],
  [{ width: 2_000, filters: ['no_upscale()'] }, 'dpr=1&w=2000'],
  [
    { width: 2_000, height: 500, filters: ['no_upscale()'] },
    'dpr=1&enlarge=box&fit=cover&h=500&w=2000',
  ],
  [{ width: 300, height: 300, filters: ['stretch()'] }, 'dpr=1&enlarge=1&fit=fill&h=300&w=300'],
  [filtered('quality(60)'), 'dpr=1&enlarge=1&q=60&w=300'],
  [filtered('format(webp)'), 'dpr=1&enlarge=1&fmt=webp&w=300'],
  [filtered('format(png)'), 'dpr=1&enlarge=1&fmt=png&w=300'],
  [filtered('grayscale()'), 'dpr=1&enlarge=1&grayscale=1&w=300'],
  [filtered('blur(10,3)'), 'blur=2.9912&dpr=1&enlarge=1&w=300'],
  [filtered('saturation(1.5)'), 'dpr=1&enlarge=1&saturation=1.5&w=300'],
  [filtered('rotate(90)'), 'dpr=1&enlarge=1&h=300&rotate=270'],
  [filtered('rotate(180)'), 'dpr=1&enlarge=1&rotate=180&w=300'],
  [filtered('background_color(red)'), 'bg=red&dpr=1&enlarge=1&flatten=1&w=300'],
  [filtered('strip_icc()'), 'dpr=1&enlarge=1&w=300'],
  [
    { width: 300, filters: ['format(webp)', 'quality(60)', 'max_bytes(9000)'] },
    'dpr=1&enlarge=1&fmt=webp&maxbytes=9000&q=60&w=300',
  ],
];

const program = `
import json, sys
from libthumbor import CryptoURL
given = json.load(sys.stdin)
crypto = CryptoURL(key=given["secret"])
print(json.dumps([[crypto.generate(image_url=given["source"], unsafe=unsafe, **options)
                   for unsafe in (True, False)] for options in given["rows"]]))
`;

/** Builds each URL with libthumbor, once signed and once with `unsafe/`. */
export const thumborBuilder: Builder = {
  kind: 'thumbor',
  signing: { kind: 'thumbor', secret },
  async build(parent, source) {
    const folder = join(parent, 'thumbor-builder');
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin/pip'), ['install', '--quiet', 'libthumbor']);
    const running = run(join(folder, 'bin/python'), ['-c', program]);
    const options = rows.map(([given]) => given);
    running.child.stdin?.end(JSON.stringify({ secret, source, rows: options }));
    const built: readonly (readonly [string, string])[] = JSON.parse((await running).stdout);
    return rows.flatMap(([, native], index): BuiltUrl[] => {
      const [unsafe = '', signed = ''] = built[index] ?? [];
      return [
        { url: `/${unsafe}`, native, isSigned: false },
        { url: signed, native, isSigned: true },
      ];
    });
  },
};
