import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootPath } from '../root.ts';
import { failure, newFolder } from './app.ts';

const packageName = '@image-delivery/sdk';

/** Returns the faults in the outcome of a build with `./sign`. */
export function refusalProblems(printed: string | null): string[] {
  if (printed === null) return ['the bundle was built'];
  return printed.includes('sdk/sign on your server only') ? [] : [printed];
}

/** Builds with webpack alone, because its command needs a newer Node than the service. */
const build = `require('webpack')({ mode: 'production', entry: './entry.js' }, (error, stats) => {
  console.log(String(error ?? stats));
  process.exitCode = error || stats.hasErrors() ? 1 : 0;
});
`;

/** Returns the faults of webpack's browser bundles: only the bundle of `./sign` must fail. */
export async function checkWebpack(parent: string, tarball: string): Promise<string[]> {
  const folder = await newFolder(join(parent, 'webpack'), [tarball, 'webpack']);
  await writeFile(join(folder, 'build.cjs'), build);
  const { exports } = JSON.parse(await readFile(join(rootPath, 'sdk/package.json'), 'utf8'));
  const problems: string[] = [];
  for (const entry of Object.keys(exports)) {
    const file = join(folder, 'entry.js');
    await writeFile(file, `export * from '${packageName}${entry.slice(1)}';\n`);
    const printed = await failure(folder, ['-c', 'node build.cjs']);
    if (entry === './sign') problems.push(...refusalProblems(printed));
    else if (printed !== null) problems.push(`${entry}: ${printed}`);
  }
  return problems;
}
