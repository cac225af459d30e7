// Own process: it must not load fonts.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import sharp from 'sharp';
import t from 'tap';
import { launchTransformProcess } from '../../../../pool/execution/process/launch.ts';
import { ProcessPool } from '../../../../pool/execution/process/process-pool.ts';
import { readFont } from '../../../../pool/rendering/text/font-file.ts';
import { renderText } from '../../../../pool/rendering/text/render-text.ts';
import { plainVariant } from '../../../../pool/variant.ts';
import { resolveLayers } from '../../../../server/image/layers.ts';
import { project } from '../../../project.ts';
import { scriptArguments, scriptUrl } from '../../../scripts.ts';
import { temporaryFolder } from '../../../temporary-root.ts';
import { until } from '../../../until.ts';
import { plainStyle } from './drawn-text.ts';
import { arabic, impostor, italic, woff2 } from './font-files.ts';

const limits = { memoryBytes: 1_536 * 2 ** 20, cpuSeconds: 60 };
const { signal } = new AbortController();
const processEntry = scriptUrl('../../../../pool/execution/process/main', import.meta.url);

t.test('draws a text in a process with fonts', async (t) => {
  const drawing = renderText(plainStyle, 'a', { width: 9, height: 9 });
  await t.rejects(drawing, { message: 'This process has no fonts.' });
});

t.test('draws a text to the same bytes with other fonts and another language', async (t) => {
  const folder = await temporaryFolder(t);
  const script = fileURLToPath(scriptUrl('./print-digest', import.meta.url));
  const digest = async (name: string, environment: Readonly<Record<string, string>>) => {
    const own = join(folder, name);
    await mkdir(own);
    const { PATH = '' } = process.env;
    const env = { PATH, HOME: own, ...environment };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...scriptArguments, script, own],
      { env },
    );
    return stdout;
  };
  const none = join(folder, 'none.conf');
  await writeFile(none, '<fontconfig/>');
  const usual = await digest('usual', {});
  t.match(usual, /^[0-9a-f]{64}$/);
  t.equal(await digest('none', { FONTCONFIG_FILE: none }), usual);
  t.equal(
    await digest('japanese', { LANG: 'ja_JP.UTF-8', LANGUAGE: 'ja', PANGO_LANGUAGE: 'ja' }),
    usual,
  );
});

const svg = (inner: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="300" height="120">${inner}</svg>`);

/** Returns an SVG with letters that reveal the process's fonts. */
const lettersIn = (family: string) =>
  svg(`<text y="45" font-size="40" font-family="${family}">Hag سلام</text>`);

/** A text on an image, with the bytes of its custom font, if any. */
interface Words {
  readonly position: 'north' | 'south';
  readonly font?: Buffer;
}

/** Renders an SVG and texts in a process of the pool. */
function run(pool: ProcessPool, source: Buffer, texts: readonly Words[] = []) {
  const stored = texts.map(({ position, font }, index) => {
    const own = font === undefined ? {} : { fontUrl: 'https://pictures.example.com/a.woff2' };
    return [`l${index}`, { text: { words: 'Hag', weight: 900, position, ...own } }] as const;
  });
  const layers = Object.fromEntries(stored);
  const names = texts.length === 0 ? undefined : Object.keys(layers);
  return pool.run(
    {
      source,
      execution: { isolated: true, cost: null },
      layers: texts.map(({ font }) => font ?? null),
      variant: {
        ...plainVariant,
        formats: ['png'],
        layers: resolveLayers(names, new Map(), project({ layers }), false),
      },
      limits: {
        sourceMaxPixels: 1e6,
        softTimeoutSeconds: 60,
        svgTimeoutMs: 60_000,
        processMemoryBytes: 2 ** 30,
      },
    },
    signal,
  );
}

/** Returns the pixels of an SVG with texts from a process of the pool. */
async function drawn(...parameters: Parameters<typeof run>): Promise<Buffer> {
  const result = await run(...parameters);
  if (!('body' in result)) throw new Error(JSON.stringify(result));
  return sharp(result.body).raw().toBuffer();
}

t.test('gives packaged and added fonts only to processes for texts', async (t) => {
  const added = await temporaryFolder(t);
  await writeFile(join(added, 'arabic.woff2'), arabic);
  await writeFile(join(added, 'damaged.ttf'), arabic.subarray(0, 99));
  const [plain, packaged, more] = [
    new ProcessPool(limits),
    new ProcessPool(limits, { added: null }),
    new ProcessPool(limits, { added }),
  ];
  t.teardown(() => Promise.all([plain, packaged, more].map((pool) => pool.close())));
  const named = lettersIn('Open Sans');
  const [machine, own, both] = [
    await drawn(plain, named),
    await drawn(packaged, named),
    await drawn(more, named),
  ];
  t.notOk(machine.equals(own), 'SVG in other processes has the fonts of the machine');
  t.notOk(own.equals(both), 'Arabic letters are those of the added font');
  t.ok(own.equals(await drawn(packaged, lettersIn('Sans'))), 'there is no other font');
});

t.test("keeps a project's font out of other images", async (t) => {
  const pool = new ProcessPool(limits, { added: null });
  t.teardown(() => pool.close());
  const [blank, named] = [svg(''), lettersIn('Noto Sans Arabic')];
  const packaged = await drawn(pool, blank, [{ position: 'north' }]);
  const letters = await drawn(pool, named, [{ position: 'north' }]);

  const font = await impostor();
  t.match(await readFont(font), { family: 'Open Sans', weights: [900] });
  const own = await drawn(pool, blank, [{ position: 'north', font }]);
  t.notOk(own.equals(packaged), 'it is used, in a pool with a process that had other tasks');
  const same = await drawn(pool, blank, [{ position: 'north' }]);
  t.ok(same.equals(packaged), 'it does not replace the packaged family, whose name it has');

  await drawn(pool, blank, [{ position: 'north', font: arabic }]);
  t.ok(
    (await drawn(pool, named, [{ position: 'north' }])).equals(letters),
    'neither by its name nor by its letters',
  );

  const both = await drawn(pool, blank, [{ position: 'north' }, { position: 'south', font }]);
  const half = both.length / 2;
  t.ok(
    both.subarray(0, half).equals(packaged.subarray(0, half)),
    'nor in another text of the picture',
  );
  t.notOk(both.subarray(half).equals(packaged.subarray(half)));
});

t.test("draws an SVG in the same letters whatever a text's font", async (t) => {
  const pool = new ProcessPool(limits, { added: null });
  t.teardown(() => pool.close());
  const upper = (pixels: Buffer) => pixels.subarray(0, Math.floor(0.55 * pixels.length));
  for (const family of ['Open Sans', 'Noto Sans Arabic', 'project 0', 'Serif']) {
    const source = lettersIn(family);
    const alone = upper(await drawn(pool, source));
    for (const font of [undefined, await impostor(), arabic]) {
      const words = font === undefined ? {} : { font };
      const withBoth = await drawn(pool, source, [{ position: 'south', ...words }]);
      t.ok(upper(withBoth).equals(alone), `${family} ${font?.length}`);
    }
  }
});

t.test("reports a font error as its layer's error", async (t) => {
  const pool = new ProcessPool(limits, { added: null });
  t.teardown(() => pool.close());
  for (const [font, reason] of [
    [Buffer.from('no font'), /not a TTF, OTF or WOFF2/],
    [italic.subarray(0, 999), /damaged/],
    [woff2({ declared: 2 ** 31, actual: 9 }), /it is damaged/],
  ] as const) {
    const result = await run(pool, svg(''), [{ position: 'north' }, { position: 'south', font }]);
    t.match(result, {
      ok: false,
      error: { code: 'source_unsupported', message: reason, layer: 1 },
    });
  }
});

t.test('removes the font folder with its process', async (t) => {
  const temporary = await temporaryFolder(t);
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = temporary;
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  const pool = new ProcessPool(limits, { added: null });
  await drawn(pool, lettersIn('Open Sans'));
  const folders = async () =>
    (await readdir(temporary)).filter((name) => name.startsWith('image-delivery-process-'));
  const [folder = ''] = await folders();
  t.ok(existsSync(join(temporary, folder, 'fonts.conf')));
  await pool.close();
  await until('the folder is removed', async () => (await folders()).length === 0);
});

t.test('removes the folder from a process that lost its front end', async (t) => {
  const own = await temporaryFolder(t);
  const child = launchTransformProcess(processEntry, limits, true, own, { added: null });
  await once(child, 'message');
  t.ok(existsSync(join(own, 'fonts.conf')));
  child.disconnect();
  await once(child, 'exit');
  t.notOk(existsSync(own));
});

t.test('includes the licence of the packaged fonts', async (t) => {
  const manifest = import.meta.resolve('@fontsource-variable/open-sans/package.json');
  const licence = readFileSync(join(dirname(fileURLToPath(manifest)), 'LICENSE'), 'utf8');
  t.match(licence, /SIL OPEN FONT LICENSE Version 1\.1/i);
});
