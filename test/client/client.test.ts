import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { root, rootPath } from '../root.ts';
import { startService } from '../service/service.ts';

/** The workspace with the client's own packages. */
const workspace = join(rootPath, 'test/client');
const requirePackage = createRequire(join(workspace, 'package.json'));
const ts: typeof import('typescript') = requirePackage('typescript');
const openapi: typeof import('openapi-typescript') = requirePackage('openapi-typescript');

const key = 'sk_key-of-the-client';
const program = await readFile(join(workspace, 'program.js'), 'utf8');

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
  // Within the workspace, so that the program finds its packages.
  const folder = await mkdtemp(join(workspace, 'generated-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'program.js'), program);
  const served = await fetch(`${service.url}/openapi.json`);
  const schema = openapi.astToString(await openapi.default(await served.text()));
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
      typeRoots: [new URL('node_modules/@types', root).pathname],
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
