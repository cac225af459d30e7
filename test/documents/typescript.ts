import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { rootPath } from '../root.ts';

const biome = join(rootPath, 'node_modules/@biomejs/biome/bin/biome');

/** Returns a generated module in the form that `npm run format` leaves. */
export const typescript = (content: () => string) => (): string => {
  const input = `/** Generated from the tables of the service by \`npm run docs\`. */\n\n${content()}\n`;
  const args = [biome, 'format', '--stdin-file-path=generated.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: rootPath,
    input,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

/** Returns a comment for a declaration. The formatter does not break its lines. */
export function documentation(text: string): string {
  const lines = text
    .split('\n')
    .flatMap((paragraph) => paragraph.match(/.{1,96}(?=\s|$)/g) ?? [''])
    .map((line) => line.trim());
  const [first = '', ...more] = lines;
  if (more.length === 0) return `/** ${first} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}
