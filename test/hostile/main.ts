import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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
const files = (await readdir(here)).filter((name) => name.endsWith('.test.js')).sort();
const chosen = seed ?? Date.now() % 1_000_000;
const environment = {
  ...process.env,
  // A test file of these may take an hour.
  TAP_TIMEOUT: '3600',
  [seedVariable]: String(chosen),
  [countVariable]: String(count),
  [fromVariable]: String(from),
};

/** Shows what failed, and the comments; thousands of passed assertions would hide them. */
async function run(name: string): Promise<boolean> {
  const test = spawn(process.execPath, ['--enable-source-maps', join(here, name)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(test, 'exit');
  for await (const line of createInterface({ input: test.stdout })) {
    if (!/^ +ok \d/.test(line) && line.trim() !== '') process.stdout.write(`${line}\n`);
  }
  const [code] = await ended;
  return code === 0;
}

process.stdout.write(`${files.join(', ')}; ${count} mutations, seed ${chosen}\n`);
for (const name of files) {
  const passed = await run(name);
  process.stdout.write(`${name} ${passed ? 'passed' : 'FAILED'}\n`);
  if (!passed) process.exitCode = 1;
}
