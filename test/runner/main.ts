import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { builtTests, durationMark, processesFor, type Selection, testFiles } from './files.ts';
import { portShare } from './ports.ts';
import {
  endPrograms,
  minutes,
  type ProgramResult,
  print,
  reportWhatRuns,
  runNode,
} from './programs.ts';

/** `npm test`, `npm run test:more` and `npm run test:store`. */

const buildLimitMs = 300_000;
const testLimitMs = { test: 600_000, store: 600_000, more: 900_000 };
/** Maximum number of lines to print per failure. */
const shownLines = 30;
const shownDurations = 20;

interface Counts {
  pass: number;
  fail: number;
  skip: number;
}

const whole = (text: string): number => {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A whole number from 1 to 99.');
};

const command = new Command('npm test --')
  .description('Checks types, lint and format, and runs the tests.')
  .argument('[texts...]', 'only test files whose path contains one of these, such as server/image')
  .option('--more', 'the files *.more.test.ts: tests that take long or need other programs')
  .option('--store', 'the files *.store.test.ts, on the server of SERVICE_MONGODB_URL')
  // Two wait most of the time.
  .option('--jobs <n>', 'processes at a time', whole, availableParallelism() + 2)
  .parse();
const { more, store, jobs } = command.opts<{ more?: true; store?: true; jobs: number }>();
const selection: Selection = more ? 'more' : store ? 'store' : 'test';

/** Exits when a check or a build fails. */
async function step(name: string, ...args: string[]): Promise<void> {
  const { end, lines, ms } = await runNode(name, args, buildLimitMs);
  if (end !== 0) {
    endPrograms();
    const advice = name === 'format' ? '; npm run format corrects it' : '';
    process.stdout.write(`${lines.join('\n')}\n${name}: failed${advice}\n0 passed, 1 failed\n`);
    process.exit(1);
  }
  print(`${name}: ${minutes(ms)}`);
}

async function checkAndBuild(): Promise<void> {
  print('checking types, lint and format, and building the service, the SDK and the tests');
  await step("the SDK's types", 'scripts/build.js', 'types');
  const biome = 'node_modules/@biomejs/biome/bin/biome';
  const others = async () => {
    await step('lint', biome, 'lint', '--error-on-warnings', '.');
    await step('format', biome, 'format', '.');
    await step('build of the service', 'scripts/build.js');
    await step('build of the SDK', 'scripts/build.js', 'sdk');
  };
  await Promise.all([step('types, build of the tests', 'scripts/build.js', 'test'), others()]);
}

/** Reads tap's last line, such as `# { total: 12, pass: 10, fail: 1, skip: 1 }`. */
function readCounts({ end, lines }: ProgramResult): Counts {
  const totals = lines.findLast((line) => /^# \{ total: \d/.test(line)) ?? '';
  const count = (kind: string) => Number(new RegExp(`${kind}: (\\d+)`).exec(totals)?.[1] ?? 0);
  const fail = count('fail');
  // A failure that no assertion counts, such as a crash, is one all the same.
  return { pass: count('pass'), fail: fail > 0 || end === 0 ? fail : 1, skip: count('skip') };
}

/**
 * Returns the lines about failed assertions, or the last lines if the process failed for another
 * reason.
 */
function failuresIn({ lines, end }: ProgramResult): string[] {
  const failed = lines.flatMap((line, at) => (/^ *not ok /.test(line) ? [at] : []));
  if (failed.length === 0) return [...lines.slice(-shownLines), `The process ended with ${end}.`];
  // The first is the assertion itself, the others are the subtests around it.
  return failed.flatMap((at) => {
    const length = lines.slice(at, at + shownLines).findIndex((line) => /^ *\.\.\.$/.test(line));
    return lines.slice(at, at + (length === -1 ? shownLines : length + 1));
  });
}

/** Returns the milliseconds per file. */
function durationsIn({ lines }: ProgramResult): [ms: number, file: string][] {
  return lines
    .filter((line) => line.startsWith(durationMark))
    .map((line) => line.slice(durationMark.length + 1).split(' '))
    .map(([ms, file = '']) => [Number(ms), file]);
}

function printLongest(durations: readonly [ms: number, file: string][]): void {
  const longest = durations.toSorted(([a], [b]) => b - a).slice(0, shownDurations);
  const lines = longest.map(([ms, file]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}\n`);
  process.stdout.write(`\nThe longest files:\n${lines.join('')}\n`);
}

async function runTests(): Promise<Counts> {
  const files = testFiles(selection, command.args);
  const processes = processesFor(files);
  const total: Counts = { pass: 0, fail: 0, skip: 0 };
  const failures: string[] = [];
  const durations: [ms: number, file: string][] = [];
  let done = 0;
  print(`${files.length} test files in ${processes.length} processes, ${jobs} at a time`);
  const runNext = async (place: number): Promise<void> => {
    const next = processes.shift();
    if (next === undefined) return;
    const first = next[0]?.replace('.test.js', '') ?? '';
    const name = next.length === 1 ? first : `${first} and ${next.length - 1} more`;
    const limitMs = testLimitMs[selection];
    const result = await runNode(
      name,
      // tap names temporary folders after the arguments.
      [join(builtTests, 'runner/process.js'), first],
      limitMs,
      {
        TEST_FILES: next.join('\n'),
        // Threads use it too.
        NODE_OPTIONS: '--enable-source-maps',
        TAP_TIMEOUT: String(limitMs / 1_000),
        ...portShare(place, jobs),
        ...(more ? { TEST_MORE: '1' } : {}),
      },
    );
    durations.push(...durationsIn(result));
    const counts = readCounts(result);
    total.pass += counts.pass;
    total.fail += counts.fail;
    total.skip += counts.skip;
    done += next.length;
    const verdict = counts.fail === 0 ? 'ok' : 'FAILED';
    print(`${done} of ${files.length}  ${verdict}  ${name}: ${minutes(result.ms)}`);
    if (counts.fail > 0) {
      const text = failuresIn(result).join('\n');
      failures.push(`${name}\n${text}`);
      process.stdout.write(`${text}\n`);
    }
    await runNext(place);
  };
  await Promise.all(Array.from({ length: jobs }, (_, place) => runNext(place)));
  printLongest(durations);
  if (failures.length > 0) process.stdout.write(`\nWhat failed:\n${failures.join('\n\n')}\n`);
  return total;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endPrograms();
    process.exit(1);
  });
}
reportWhatRuns();
await checkAndBuild();
const { pass, fail, skip } = await runTests();
if (pass + fail === 0) process.stdout.write('No test file has these names.\n');
print('the end');
process.stdout.write(`${pass} passed, ${fail} failed${skip > 0 ? `, ${skip} skipped` : ''}\n`);
process.exitCode = fail > 0 || pass === 0 ? 1 : 0;
