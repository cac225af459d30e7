import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { countVariable, fromVariable, seedVariable } from './length.ts';

/** `npm run test:hostile`: the tests of this folder, at full length. */

const whole = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A whole number.');
};

const { seed, count, from } = new Command('test:hostile')
  .description(
    'Runs the hostile tests at full length: every URL, picture and attack, and mutations of pictures. The seed is printed.',
  )
  .option('--seed <n>', 'of the mutations; default: another one each time', whole)
  .option('--count <n>', 'how many mutations', whole, 2_000)
  .option('--from <n>', 'the number of the first mutation, to repeat a single one', whole, 0)
  .parse()
  .opts<{ seed?: number; count: number; from: number }>();

const here = import.meta.dirname;
const root = join(here, '../../..');
const files = (await readdir(here)).filter((name) => name.endsWith('.test.js')).sort();
const args = [
  ...['run', '--reporter=terse', '--jobs=1', '--timeout=3600', '--allow-incomplete-coverage'],
  ...files.map((name) => join(here, name)),
];
const chosen = seed ?? Date.now() % 1_000_000;
process.stderr.write(`${files.join(', ')}; ${count} mutations, seed ${chosen}\n`);
const tap = spawn(join(root, 'node_modules/.bin/tap'), args, {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    [seedVariable]: String(chosen),
    [countVariable]: String(count),
    [fromVariable]: String(from),
  },
});
tap.once('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 0 : 1);
});
