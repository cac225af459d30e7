import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { rootPath } from '../root.ts';
import { picture, startTestOrigin } from '../service/origin.ts';
import { startService } from '../service/service.ts';

const run = promisify(execFile);

export type Generators = Readonly<
  Record<string, (served: { url: string; document: string }, folder: string) => Promise<void>>
>;

type Errors = Readonly<Record<string, readonly [right: string, wrong: string]>>;

/** Type errors to insert into every program. */
const commonErrors: Errors = {
  'a missing field': [", origin: 'https://shop.example.com/'", ''],
  'a wrong type in a body': ['defaultQuality: 70', "defaultQuality: '70'"],
  'a wrong word in a body': ["defaultFit: 'inside'", "defaultFit: 'squeeze'"],
  'an unknown format': ["formats: ['webp']", "formats: ['gif']"],
  'a wrong type of a response': ['@type {number | null}', '@type {number}'],
  'a width that is a flag': ['w: 40', 'w: true'],
  'an unknown image format': ["fmt: 'webp'", "fmt: 'bmp'"],
  'neither a flag nor a number': ['blur: 2.5', "blur: 'strong'"],
  'a flag with a number': ['flip: true', 'flip: 2'],
  'a wrong word in a preset': ["fit: 'cover'", "fit: 'squeeze'"],
  'neither a number nor auto': ["dpr: 'auto'", "dpr: 'high'"],
};

/** Type errors in calls that differ between the clients. */
const findErrors: Readonly<Record<string, Errors>> = {
  'openapi-fetch': {
    'a missing path parameter': ['{ path: { projectId: project.id } }', '{}'],
    'an unknown query parameter': ['query: { host:', 'query: { hostname:'],
    'an unknown path': ["GET('/api/sdk/v1/projects')", "GET('/api/sdk/v1/project')"],
    'an unknown method': ["PATCH('/api/sdk/v1/projects/{p", "GET('/api/sdk/v1/projects/{p"],
    'an unknown field of a response': ['prewarm.variantCount', 'prewarm.variants'],
    'an unknown field of an error': ['error?.code}:', 'error?.status}:'],
  },
  'hey-api': {
    'a missing path parameter': ['const path = { projectId: project.id }', 'const path = {}'],
    'an unknown query parameter': ['query: { host:', 'query: { hostname:'],
    'an unknown field of a response': ['prewarm.variantCount', 'prewarm.variants'],
    'an unknown field of an error': ['error?.code', 'error?.status'],
  },
  orval: {
    'a missing path parameter': ['getProject(project.id, options)', 'getProject(options)'],
    'an unknown query parameter': ["{ host: 'cdn.example.com' },\n", '{ hostname: 1 },\n'],
    'an unknown field of a response': ['prewarm.variantCount', 'prewarm.variants'],
    'an unknown field of an error': ['missing.data.code', 'missing.data.status'],
  },
};

/**
 * Generates a client with each generator from the served document, and checks and runs its program.
 *
 * @param folder with `generators.js`, the programs, and their packages
 */
export async function checkClients(t: Test, folder: string): Promise<void> {
  const key = 'sk_key-of-the-client';
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(40, 30));
  const source = `${origin.url}/a.jpg`;
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: key } });
  const { url } = service;
  const document = await (await fetch(`${url}/openapi.json`)).text();
  const { generators }: { generators: Generators } = await import(
    pathToFileURL(join(folder, 'generators.js')).href
  );

  // Use the programs' folder, because they import its packages.
  const generated = await mkdtemp(join(folder, 'generated-'));
  t.teardown(() => rm(generated, { recursive: true, force: true }));
  const programs: { client: string; error: string | null; name: string }[] = [];
  for (const [client, generate] of Object.entries(generators)) {
    await generate({ url, document }, generated);
    const program = await readFile(join(folder, `${client}.js`), 'utf8');
    const write = async (error: string | null, text: string) => {
      const name = `program-${programs.length}.js`;
      await writeFile(join(generated, name), text);
      programs.push({ client, error, name });
    };
    await write(null, program);
    const errors = { ...commonErrors, ...findErrors[client] };
    for (const [error, [right, wrong]] of Object.entries(errors)) {
      t.ok(program.includes(right), `the program of ${client} has ${right}`);
      await write(error, program.replace(right, wrong));
    }
  }

  const outDir = join(generated, 'built');
  await t.test("finds every error by the clients' types", async (t) => {
    const errors = await compile(folder, generated, outDir);
    for (const { client, error, name } of programs) {
      const own = errors.filter(({ file }) => file === name);
      if (error === null) t.same(own, [], `${client} without an error`);
      else t.not(own.length, 0, `${client}: ${error} is a type error`);
    }
    const names = programs.map(({ name }) => name);
    const others = errors.filter(({ file }) => !names.includes(file));
    t.same(others, [], 'the generated clients compile');
  });

  for (const { client, name } of programs.filter(({ error }) => error === null)) {
    await t.test(`calls every operation with ${client}`, async (t) => {
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
}

/**
 * Compiles the programs in `generated` with the generators' compiler.
 * @returns the errors, each with its file's path from `generated`
 */
async function compile(folder: string, generated: string, outDir: string) {
  const compilerOptions = {
    allowJs: true,
    checkJs: true,
    strict: true,
    skipLibCheck: true,
    module: 'nodenext',
    target: 'es2022',
    types: ['node'],
    typeRoots: [join(rootPath, 'node_modules/@types')],
    rootDir: '.',
    outDir,
  };
  const config = JSON.stringify({ compilerOptions, include: ['program-*.js'] });
  await writeFile(join(generated, 'tsconfig.json'), config);
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  const compiled = await run(process.execPath, [tsc, '--pretty', 'false'], {
    cwd: generated,
  }).catch((error: { stdout: string }) => error);
  const lines = compiled.stdout.matchAll(/^(\S.*?)\(\d+,\d+\): error (.*)$/gm);
  return [...lines].map(([, file = '', message = '']) => ({ file, message }));
}
