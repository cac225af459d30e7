import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError } from 'commander';
import { countVariable, fromVariable, onlyVariable, seedVariable } from './run.ts';

/** `npm run test:hostile`: the tests of this folder, at full length. */

const whole = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A whole number.');
};

const command = new Command('test:hostile')
  .description(
    'Runs the hostile tests at full length: all URLs, pictures and SVGs, and generated pictures, heads and bodies. Prints the seed.',
  )
  .argument('[tests...]', 'names of tests, such as requests or svg; default: all')
  .option('--seed <n>', 'seed of the generated inputs; default: random', whole)
  .option('--count <n>', 'number of generated inputs of each kind', whole, 2_000)
  .option('--from <n>', 'number of the first generated input; runs only generated ones', whole)
  .option('--only <text>', 'only the expensive pictures whose description contains this text', '')
  .parse();
const { seed, count, from, only } = command.opts<{
  seed?: number;
  count: number;
  from?: number;
  only: string;
}>();

const here = import.meta.dirname;
const all = (await readdir(here)).filter((name) => name.endsWith('.test.js')).sort();
const toPath = (name: string) =>
  all.includes(`${name}.more.test.js`) ? `${name}.more.test.js` : `${name}.test.js`;
const chosenFiles = command.args.map(toPath);
const unknown = chosenFiles.filter((name) => !all.includes(name));
if (unknown.length > 0)
  command.error(`unknown test ${unknown.join(', ')}; the tests are ${all.join(', ')}`);
const files = chosenFiles.length === 0 ? all : chosenFiles;
const chosen = seed ?? Date.now() % 1_000_000;
const environment = {
  ...process.env,
  // A test file can take an hour.
  TAP_TIMEOUT: '3600',
  [seedVariable]: String(chosen),
  [countVariable]: String(count),
  [fromVariable]: String(from ?? ''),
  [onlyVariable]: only,
};

/** Hides passed assertions, which are thousands. */
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

process.stdout.write(`${files.join(', ')}; ${count} generated, seed ${chosen}\n`);
for (const name of files) {
  const passed = await run(name);
  process.stdout.write(`${name} ${passed ? 'passed' : 'FAILED'}\n`);
  if (!passed) process.exitCode = 1;
}
