import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { loadModule, runDecoder } from '../../../pool/formats/wasm/run.ts';

t.test('retries a module that failed to load, for the next source', async (t) => {
  const file = join(t.testdir({}), 'module.wasm');
  const entry = new URL('data:text/javascript,throw new Error("started")');
  const run = () => runDecoder(entry, loadModule(file), {});
  await t.rejects(run(), { code: 'MODULE_NOT_FOUND' });
  const module = createRequire(import.meta.url).resolve('@embedpdf/pdfium/pdfium.wasm');
  await writeFile(file, await readFile(module));
  await t.rejects(run(), { code: 'source_corrupt', cause: { message: 'started' } });
});

t.test('ends a decoder that exceeds its CPU time', async (t) => {
  const entry = new URL('data:text/javascript,for (;;);');
  const run = runDecoder(entry, loadModule('@embedpdf/pdfium/pdfium.wasm'), {}, 200);
  await t.rejects(run, { code: 'transform_timeout' });
});
