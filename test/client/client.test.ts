import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import t from 'tap';
import ts from 'typescript';
import { startService } from '../service/service.ts';

const key = 'sk_key-of-the-client';
const program = await readFile(new URL('program.js', import.meta.url), 'utf8');

/** Mistakes that only the types of the interface can see, each put into the program. */
const mistakes: Readonly<Record<string, readonly [right: string, wrong: string]>> = {
  'a missing field': [", origin: 'https://shop.example.com/'", ''],
  'a wrong type in a body': ['defaultQuality: 70', "defaultQuality: '70'"],
  'a wrong word in a body': ["defaultFit: 'inside'", "defaultFit: 'squeeze'"],
  'a format that is none': ["formats: ['webp']", "formats: ['gif']"],
  'a missing path parameter': ['{ path: { projectId: project.id } }', '{}'],
  'a query parameter that is none': ['query: { host:', 'query: { hostname:'],
  'a path that is none': ["GET('/api/sdk/v1/projects')", "GET('/api/sdk/v1/project')"],
  'a method that is none': ["PATCH('/api/sdk/v1/projects/{p", "GET('/api/sdk/v1/projects/{p"],
  'a field of an answer that is none': ['prewarm.variantCount', 'prewarm.variants'],
  'a wrong type of an answer': ['@type {number | null}', '@type {number}'],
  'a field of an error that is none': ['error?.code}:', 'error?.status}:'],
};

t.test('a client generated from the served specification drives every operation', async (t) => {
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: key } });
  // Within the repository, so that the program finds its packages.
  const folder = t.testdir({ 'program.js': program });
  const served = await fetch(`${service.url}/openapi.json`);
  const schema = astToString(await openapiTypescript(await served.text()));
  await writeFile(join(folder, 'schema.d.ts'), schema);

  t.test('it is typed end to end', async (t) => {
    const files = new Map([['as it is', join(folder, 'program.js')]]);
    for (const [name, [right, wrong]] of Object.entries(mistakes)) {
      t.ok(program.includes(right), `the program has ${right}`);
      const file = join(folder, `${name.replaceAll(' ', '-')}.js`);
      await writeFile(file, program.replace(right, wrong));
      files.set(name, file);
    }
    const checked = ts.createProgram([...files.values()], {
      ...{ allowJs: true, checkJs: true, noEmit: true, strict: true, skipLibCheck: true },
      exactOptionalPropertyTypes: false,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      types: ['node'],
      typeRoots: [new URL('../../node_modules/@types', import.meta.url).pathname],
    });
    const faults = ts.getPreEmitDiagnostics(checked).map(({ file, messageText }) => ({
      file: file?.fileName,
      message: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }));
    for (const [name, file] of files) {
      const own = faults.filter((fault) => fault.file === file).map(({ message }) => message);
      if (name === 'as it is') t.same(own, [], name);
      else t.not(own.length, 0, `${name} is a type error`);
    }
    t.same(
      faults.filter(({ file }) => file === undefined),
      [],
    );
  });

  t.test('it works', async (t) => {
    const { drive } = await import(join(folder, 'program.js'));
    const seen = await drive(service.url, key);
    t.match(seen, {
      ...{ listed: [seen.id], name: 'My shop', maxWidth: 2_000, fit: 'inside', accepted: true },
      template: `http://localhost:${service.port}/img/{source}?project=${seen.id}{&w,h,q,fmt,fit,dpr,blur}`,
      hosts: ['shop.example.com', 'cdn.example.com'],
      variants: 2,
      left: [['shop.example.com'], []],
      ...{ code: 'project_not_found', ok: true },
    });
  });
});
