import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { root, rootPath } from '../root.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { startService } from '../service/service.ts';

interface Generators {
  readonly generators: Readonly<
    Record<string, (served: { url: string; document: string }, folder: string) => Promise<void>>
  >;
  readonly typescript: typeof import('typescript');
}

/** The workspace with the generators: its own packages are found only from there. */
const workspace = join(rootPath, 'test/client');
const { generators, typescript: ts }: Generators = await import(
  new URL('test/client/generators.js', root).href
);

const key = 'sk_key-of-the-client';

type Mistakes = Readonly<Record<string, readonly [right: string, wrong: string]>>;

/** Mistakes that only the types of the interface can see, each put into every program. */
const mistakes: Mistakes = {
  'a missing field': [", origin: 'https://shop.example.com/'", ''],
  'a wrong type in a body': ['defaultQuality: 70', "defaultQuality: '70'"],
  'a wrong word in a body': ["defaultFit: 'inside'", "defaultFit: 'squeeze'"],
  'a format that is none': ["formats: ['webp']", "formats: ['gif']"],
  'a wrong type of an answer': ['@type {number | null}', '@type {number}'],
  'a width that is no number': ['w: 40', "w: '40 px'"],
  'an image format that is none': ["fmt: 'webp'", "fmt: 'bmp'"],
  'neither a flag nor a number': ['blur: 2.5', "blur: 'strong'"],
  'a flag that is none': ['flip: true', 'flip: 2'],
  'a wrong word in a preset': ["fit: 'cover'", "fit: 'squeeze'"],
  'neither a number nor auto': ["dpr: 'auto'", "dpr: 'high'"],
};

/** Mistakes in what each client calls otherwise. */
const mistakesOf: Readonly<Record<string, Mistakes>> = {
  'openapi-fetch': {
    'a missing path parameter': ['{ path: { projectId: project.id } }', '{}'],
    'a query parameter that is none': ['query: { host:', 'query: { hostname:'],
    'a path that is none': ["GET('/api/sdk/v1/projects')", "GET('/api/sdk/v1/project')"],
    'a method that is none': ["PATCH('/api/sdk/v1/projects/{p", "GET('/api/sdk/v1/projects/{p"],
    'a field of an answer that is none': ['prewarm.variantCount', 'prewarm.variants'],
    'a field of an error that is none': ['error?.code}:', 'error?.status}:'],
  },
  'hey-api': {
    'a missing path parameter': ['const path = { projectId: project.id }', 'const path = {}'],
    'a query parameter that is none': ['query: { host:', 'query: { hostname:'],
    'a field of an answer that is none': ['prewarm.variantCount', 'prewarm.variants'],
    'a field of an error that is none': ['error?.code', 'error?.status'],
  },
  orval: {
    'a missing path parameter': ['getProject(project.id, options)', 'getProject(options)'],
    'a query parameter that is none': ["{ host: 'cdn.example.com' },\n", '{ hostname: 1 },\n'],
    'a field of an answer that is none': ['prewarm.variantCount', 'prewarm.variants'],
    'a field of an error that is none': ['missing.data.code', 'missing.data.status'],
  },
};

/** Content-Type is declared by the type of the body, and the others are the engine's. */
const ofConnection = new Set(['connection', 'content-type', 'date', 'keep-alive', 'uwebsockets']);

/** Of images that are requested so: see below. */
const ifAsked = new Set(['content-disposition', 'x-fallback']);

const compilerOptions = {
  allowJs: true,
  checkJs: true,
  strict: true,
  skipLibCheck: true,
  exactOptionalPropertyTypes: false,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  types: ['node'],
  typeRoots: [join(rootPath, 'node_modules/@types')],
};

t.test('clients generated from the served specification drive every operation', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(40, 30));
  const source = `${origin.url}/a.jpg`;
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: key } });
  const { url } = service;
  const document = await (await fetch(`${url}/openapi.json`)).text();

  // Within the workspace, so that the programs find their packages.
  const folder = await mkdtemp(join(workspace, 'generated-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const outDir = join(folder, 'built');
  const programs: { client: string; mistake: string | null; name: string }[] = [];
  for (const [client, generate] of Object.entries(generators)) {
    await generate({ url, document }, folder);
    const program = await readFile(join(workspace, 'programs', `${client}.js`), 'utf8');
    const write = async (mistake: string | null, text: string) => {
      const name = `program-${programs.length}.js`;
      await writeFile(join(folder, name), text);
      programs.push({ client, mistake, name });
    };
    await write(null, program);
    for (const [mistake, [right, wrong]] of Object.entries({
      ...mistakes,
      ...mistakesOf[client],
    })) {
      t.ok(program.includes(right), `the program of ${client} has ${right}`);
      await write(mistake, program.replace(right, wrong));
    }
  }

  t.test('they are typed end to end', async (t) => {
    const names = programs.map(({ name }) => join(folder, name));
    const checked = ts.createProgram(names, { ...compilerOptions, rootDir: folder, outDir });
    const faults = ts.getPreEmitDiagnostics(checked).map(({ file, messageText }) => ({
      file: file?.fileName,
      message: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }));
    for (const { client, mistake, name } of programs) {
      const own = faults.filter(({ file }) => file === join(folder, name));
      if (mistake === null) t.same(own, [], `${client} as it is`);
      else t.not(own.length, 0, `${client}: ${mistake} is a type error`);
    }
    const others = faults.filter(({ file = '' }) => !names.includes(file));
    t.same(others, [], 'the generated clients compile');
    checked.emit();
  });

  t.test('it declares every status, type and header of an answer, and no other', async (t) => {
    const own = await service.project();
    const image = `/img/${encodeURIComponent(source)}?project=${own}&w=20`;
    const { headers } = await fetch(url + image);
    const authorization = `Bearer ${key}`;
    const answers: readonly [path: string, target: string, init?: RequestInit][] = [
      ['/img/{source}', image],
      ['/img/{source}', image, { headers: { 'if-none-match': headers.get('etag') ?? '' } }],
      ['/img/{source}', `${image}&download=a`],
      ['/img/{source}', `${image}&fmt=json`],
      ['/img/{source}', `${image}&fmt=lqip`],
      ['/img/', `/img/?url=${source}&project=${own}`],
      ['/img/', `/img/?project=${own}`],
      ['/img/', `/img/?url=https://other.example.com/a.jpg&project=${own}`],
      ['/img/', `/img/?url=${source}x&project=${own}`],
      ['/api/health', '/api/health'],
      ['/api/sdk/v1/projects', '/api/sdk/v1/projects'],
      ['/api/sdk/v1/projects', '/api/sdk/v1/projects', { headers: { authorization } }],
      [
        '/api/sdk/v1/projects/{projectId}',
        '/api/sdk/v1/projects/prj_0000000000000000',
        { headers: { authorization } },
      ],
    ];
    const { paths, components } = JSON.parse(document);
    for (const [path, target, init] of answers) {
      const { status, headers } = await fetch(url + target, init);
      const declared = paths[path].get.responses[status];
      const name = declared?.$ref?.replace('#/components/responses/', '');
      const { headers: known = {}, content = {} } = components.responses[name] ?? declared ?? {};
      const type = headers.get('content-type')?.split(';')[0];
      t.same(
        Object.keys(content).filter((one) => one === type),
        type ? [type] : [],
        target,
      );
      const sent = [...headers.keys()].filter((one) => !ofConnection.has(one));
      const all = Object.keys(known).map((one) => one.toLowerCase());
      const names = all.filter((one) => !ifAsked.has(one) || sent.includes(one));
      t.same(names.sort(), sent.sort(), `${status} ${target}`);
    }
  });

  for (const { client, name } of programs.filter(({ mistake }) => mistake === null)) {
    t.test(`${client} works`, async (t) => {
      const { drive } = await import(pathToFileURL(join(outDir, name)).href);
      const seen = await drive(url, key, source);
      t.match(seen, {
        name: 'My shop',
        maxWidth: 2_000,
        fit: 'inside',
        accepted: true,
        template: `http://localhost:${service.port}/img/{source}?project=${seen.id}{&w,h,q,fmt,fit,dpr,blur}`,
        hosts: ['shop.example.com', '127.0.0.1', 'cdn.example.com'],
        variants: 2,
        preset: 40,
        presets: [],
        left: [['shop.example.com', '127.0.0.1'], ['127.0.0.1']],
        type: 'image/webp',
        width: 20,
        code: 'project_not_found',
        ok: true,
      });
      t.ok(seen.listed.includes(seen.id));
    });
  }
});
