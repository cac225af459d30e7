import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import t, { type Test } from 'tap';
import { programUrl } from '../../../contract/package.ts';
import { decodeNatively } from '../../../pool/formats/heic/native.ts';
import type { HeicTask } from '../../../pool/formats/heic/thread.ts';
import { heifProgram, limiters } from '../../../pool/formats/heif/program.ts';
import { loadModule, runDecoder } from '../../../pool/formats/wasm/run.ts';
import { root } from '../../root.ts';
import { scriptArguments, scriptUrl } from '../../scripts.ts';
import { temporaryFolder } from '../../temporary-root.ts';
import { until } from '../../until.ts';

const module = scriptUrl('../../../pool/formats/heic/native', import.meta.url).href;
const skip = !Object.values(limiters).every(existsSync) && 'util-linux is not installed';
const width = 30;
const height = 20;

async function taskOf(source: Uint8Array): Promise<HeicTask> {
  const header = await sharp(source, { unlimited: true }).metadata();
  const channels = header.hasAlpha ? 4 : 3;
  const form = { width: header.width, height: header.height, channels } as const;
  return {
    source,
    page: 0,
    form,
    metadata: { icc: header.icc, exif: header.exif, xmp: header.xmp },
  };
}

const picture = () => sharp({ create: { width, height, channels: 3, background: '#123456' } });

/** Returns the path of a shell script as the decoder, in an otherwise empty folder. */
async function scripted(t: Test, script: string): Promise<string> {
  const path = join(await temporaryFolder(t), 'decoder');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const ownFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('heic-'));

t.test(
  'decodes like the WebAssembly decoder',
  { skip: heifProgram === null && 'heif-dec is not installed' },
  async (t) => {
    for (const name of ['quarters', 'tiles', 'turned', 'alpha', 'p3', 'items', 'thumbnail']) {
      const source = readFileSync(new URL(`test/pool/formats/heic/${name}.heic`, root));
      const task = await taskOf(source);
      const native = await decodeNatively(heifProgram ?? '', task);
      if (native === null) throw new Error(`${name} was refused`);
      const other = await runDecoder(
        programUrl('pool/formats/heic/thread'),
        loadModule('libheif-js/libheif-wasm/libheif.wasm'),
        task,
      );
      const [own, expected] = [sharp(native), sharp(other)];
      t.same(await own.metadata(), await expected.metadata(), name);
      const [ownPixels, pixels] = [await own.raw().toBuffer(), await expected.raw().toBuffer()];
      t.ok(
        ownPixels.every((value, at) => Math.abs(value - (pixels[at] ?? 0)) <= 2),
        `${name}: the same pixels`,
      );
    }
  },
);

t.test('takes only the expected pixels from the decoder', { skip }, async (t) => {
  const task = await taskOf(await picture().png().toBuffer());
  const folder = await temporaryFolder(t);
  const file = async (name: string, image: Sharp) => {
    const path = join(folder, name);
    await writeFile(path, await image.tiff({ compression: 'none' }).toBuffer());
    return path;
  };
  const good = await file('good', picture());
  const turned = await file('turned', picture().rotate(90));
  const alpha = await file('alpha', picture().ensureAlpha());
  const before = ownFolders();
  const decode = async (script: string) => {
    const program = await scripted(t, script);
    return decodeNatively(program, task);
  };
  const decoded = await decode(`cp ${good} image.tif`);
  t.same(
    await sharp(decoded ?? undefined)
      .raw()
      .toBuffer(),
    await picture().raw().toBuffer(),
  );
  for (const [name, script] of [
    ['no output', 'exit 0'],
    ['an error', `cp ${good} image.tif; exit 1`],
    ['a crash', `cp ${good} image.tif; kill -SEGV $$`],
    ['a warning', `cp ${good} image.tif; echo 'Warning: incomplete' >&2`],
    ['another size', `cp ${turned} image.tif`],
    ['other channels', `cp ${alpha} image.tif`],
    ['an incomplete file', `head -c 1000 ${good} > image.tif`],
    ['another format', 'cp source.heic image.tif'],
    ['too many bytes', `cat ${good} /dev/zero > image.tif`],
    ['too much memory', `cp ${good} image.tif; exec node -e 0`],
    ['too much text', 'while true; do echo 1234567890123456789012345678901234567890; done'],
  ] as const) {
    t.equal(await decode(script), null, name);
  }
  t.equal(await decodeNatively(join(folder, 'missing'), task), null, 'no program');
  t.same(ownFolders(), before, 'no files are left');
});

t.test('gives the decoder no environment, privileges or core file', { skip }, async (t) => {
  const task = await taskOf(await picture().png().toBuffer());
  process.env['TEST_SECRET'] = 'secret';
  const dump = '"$(dirname "$0")/dump"';
  const path = await scripted(t, `cat /proc/$$/environ /proc/$$/status /proc/$$/limits > ${dump}`);
  await decodeNatively(path, task);
  const dumped = await readFile(join(path, '../dump'), 'utf8');
  t.match(dumped, /^MALLOC_ARENA_MAX=2\0Name:/);
  t.match(dumped, /^NoNewPrivs:\s*1$/m);
  t.match(dumped, /^Max core file size\s+0\s+0/m);
});

t.test('kills the decoder when its process is killed', { skip }, async (t) => {
  const path = await scripted(t, 'echo $$ > "$(dirname "$0")/pid"; exec sleep 1000');
  const program = `import(${JSON.stringify(module)}).then(({ decodeNatively }) =>
    decodeNatively(${JSON.stringify(path)}, { source: new Uint8Array(1),
      form: { width: 1, height: 1, channels: 3 }, metadata: {} }))`;
  const temporary = join(path, '../tmp');
  await mkdir(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const child = spawn(process.execPath, [...scriptArguments, '-e', program], { env });
  t.teardown(() => child.kill('SIGKILL'));
  const pidFile = join(path, '../pid');
  const pid = await until('it runs', () => existsSync(pidFile) && Number(readFileSync(pidFile)));
  t.ok(isRunning(pid));
  child.kill('SIGKILL');
  await once(child, 'exit');
  await until('it has ended', () => !isRunning(pid));
});

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}
