import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError } from 'commander';
import { countVariable, fromVariable, onlyVariable, seedVariable } from './options.ts';

/** `npm run test:hostile`: the tests of this folder, at full length. */

const whole = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A whole number.');
};

const command = new Command('test:hostile')
  .description(
    'Runs the hostile tests at full length: every URL, picture and attack, and generated pictures, heads and bodies. The seed is printed.',
  )
  .argument('[tests...]', 'only these, such as requests or svg; default: all')
  .option('--seed <n>', 'of what is generated; default: another one each time', whole)
  .option('--count <n>', 'how many of each are generated', whole, 2_000)
  .option('--from <n>', 'the number of the first one, to repeat it and nothing else', whole)
  .option(
    '--only <text>',
    'nothing generated, and only the costly pictures whose description has this text',
    '',
  )
  .parse();
const { seed, count, from, only } = command.opts<{
  seed?: number;
  count: number;
  from?: number;
  only: string;
}>();

const here = import.meta.dirname;
const all = (await readdir(here)).filter((name) => name.endsWith('.test.js')).sort();
const chosenFiles = command.args.map((name) => `${name}.test.js`);
const unknown = chosenFiles.filter((name) => !all.includes(name));
if (unknown.length > 0) command.error(`there is no ${unknown.join(', ')}, only ${all.join(', ')}`);
const files = chosenFiles.length === 0 ? all : chosenFiles;
const chosen = seed ?? Date.now() % 1_000_000;
const environment = {
  ...process.env,
  // A test file of these may take an hour.
  TAP_TIMEOUT: '3600',
  [seedVariable]: String(chosen),
  [countVariable]: String(count),
  [fromVariable]: String(from ?? ''),
  [onlyVariable]: only,
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

process.stdout.write(`${files.join(', ')}; ${count} generated, seed ${chosen}\n`);
for (const name of files) {
  const passed = await run(name);
  process.stdout.write(`${name} ${passed ? 'passed' : 'FAILED'}\n`);
  if (!passed) process.exitCode = 1;
}
