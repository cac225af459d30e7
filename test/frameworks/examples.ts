import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootPath } from '../root.ts';

/** Test settings of an example. */
export interface Example {
  /** Path of the page with signed URLs; undefined if the app cannot sign. */
  readonly signedPage?: string;
  /** True if density images can be wider than the densities say. */
  readonly roundsUp?: boolean;
  /** Expected console messages of the page under `npm run dev`. */
  readonly development?: RegExp;
  /** True if the app itself serves some images in development. */
  readonly ownImages?: boolean;
  /** A program with types that match the framework's types. */
  readonly program?: string;
  /** A file of the bundle for browsers, and the commands that build it. */
  readonly browserBundle?: {
    readonly file: string;
    readonly builds: readonly (readonly string[])[];
  };
}

const vite = /^\[vite\] connect(ing\.\.\.|ed\.)$/;
const nuxt = /^<Suspense> is an experimental feature|Nuxt DevTools/;
const next = /^\[HMR\] connected$|^\[Fast Refresh\] (rebuilding|done in \d+ms)$/;
const reactTools = /Download the React DevTools/;

export const examples: Readonly<Record<string, Example>> = {
  astro: {
    signedPage: '',
    development: vite,
    ownImages: true,
  },
  html: { signedPage: '' },
  next: {
    signedPage: 'signed',
    // Next takes the next one of its configured widths.
    roundsUp: true,
    development: new RegExp(`${reactTools.source}|${next.source}`),
    browserBundle: {
      file: 'app/thumbnail.jsx',
      builds: [
        ['next', 'build'],
        ['next', 'build', '--webpack'],
      ],
    },
  },
  nuxt: {
    signedPage: 'signed',
    development: new RegExp(`${vite.source}|${nuxt.source}`),
    // How Nuxt Image finds the modifiers of a provider.
    program: `import type { ImageProvider } from '@nuxt/image';
      import provider from '@image-delivery/sdk/nuxt';
      type Provider = ReturnType<typeof provider>;
      type Options = Provider extends ImageProvider<infer Given> ? Given : never;
      const settings = { baseUrl: '', project: '' };
      export const right: Options = { ...settings, modifiers: { blur: 3, pos: 'north' } };
      // @ts-expect-error
      export const value: Options = { ...settings, modifiers: { blur: 'strong' } };
      // @ts-expect-error
      export const name: Options = { ...settings, modifiers: { blurred: 3 } };`,
  },
  'unpic-react': {
    development: new RegExp(`${reactTools.source}|${vite.source}`),
    browserBundle: { file: 'src/main.jsx', builds: [['vite', 'build']] },
  },
};

/** Returns the reason, from its `engines`, why this Node version cannot run an example, or null. */
export async function unsupported(name: string): Promise<string | null> {
  const file = join(rootPath, 'sdk/examples', name, 'package.json');
  const { engines } = JSON.parse(await readFile(file, 'utf8'));
  const numbers = (version: string) => (version.match(/\d+/g) ?? []).map(Number);
  const [major = 0, minor = 0] = numbers(engines?.node ?? '');
  const [ownMajor = 0, ownMinor = 0] = numbers(process.versions.node);
  const isEnough = ownMajor > major || (ownMajor === major && ownMinor >= minor);
  return isEnough ? null : `it needs Node ${engines.node}; this is ${process.versions.node}`;
}

/** Returns the repository's examples, which the table must contain. */
export async function exampleNames(): Promise<readonly string[]> {
  const names = (await readdir(join(rootPath, 'sdk/examples'))).sort();
  const unknown = names.filter((name) => !Object.hasOwn(examples, name));
  if (unknown.length > 0) throw new Error(`test/frameworks/examples.ts lacks ${unknown}`);
  return names;
}
