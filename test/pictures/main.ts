import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import sharp from 'sharp';
import { deployService } from '../../bench/servers/service.ts';
import { numberFrom } from '../../demo/arguments.ts';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { reference, requests } from './reference.ts';
import { type Attempt, isWrong, judge, type Limits, summary, type Verdict } from './verdict.ts';

/**
 * `npm run test:pictures -- FOLDER`: compares the service's images of a folder of pictures with sharp's.
 */

const notNegative = numberFrom(0, Number.MAX_VALUE);

interface Options {
  readonly json?: string;
  readonly mean: number;
  readonly most: number;
  readonly slow: number;
  readonly slowMs: number;
  readonly match: string;
}

const endings = 'jpe?g|jfif|png|apng|gif|webp|avif|hei[cf]|hif|tiff?|svgz?|bmp|dib|ico|cur|jxl';
const command = new Command('test:pictures')
  .description(
    'Requests each picture of a folder from the service, whole and 256 px wide, both as PNG, and lists those that differ from the result of a plain sharp pipeline, fail, or are slow. Starts a service and an HTTP origin on this machine.',
  )
  .argument('<folder>', 'folder of pictures, including its subfolders')
  .option('--json <file>', 'write all verdicts to this file')
  .option('--match <pattern>', 'a regular expression that paths must match', `\\.(?:${endings})$`)
  .option('--mean <n>', 'tolerated mean difference of a channel, 0..255', notNegative, 1)
  .option('--most <n>', 'tolerated difference of any pixel, 0..255', notNegative, 16)
  .option('--slow <factor>', "slow is more than this multiple of sharp's time", notNegative, 3)
  .option('--slow-ms <ms>', 'and at least this long', notNegative, 250)
  .addHelpText(
    'after',
    `
Both sides decode with the same libraries and write PNG, so images should be equal: the tolerance is for
rounding of colours and sizes. Times are of one request at a time, and include the fetch of the source.

Exit code: 0 when all are the same, or refused by both; 1 when a picture differs, is refused by the
service alone, or fails with 5xx; 2 when the command cannot run. Slow ones are only listed.`,
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse();
const options = command.opts<Options>();
const folder = resolve(command.args[0] ?? '.');
if (!(await stat(folder).catch(() => null))?.isDirectory()) {
  command.error(`${folder} is not a folder`);
}

const pattern = new RegExp(options.match, 'i');
const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  .filter((file) => pattern.test(file))
  .sort();
if (files.length === 0) command.error(`${folder} has no pictures`);

const limits: Limits = {
  mean: options.mean,
  most: options.most,
  slowFactor: options.slow,
  slowMs: options.slowMs,
};
sharp.cache(false);
sharp.concurrency(1);

async function timed(attempt: () => Promise<Omit<Attempt, 'ms'>>): Promise<Attempt> {
  const startedAt = performance.now();
  const result = await attempt();
  return { ...result, ms: performance.now() - startedAt };
}

const fromSharp = (source: Buffer, request: (typeof requests)[number]) =>
  timed(() =>
    reference(source, request).then(
      (image) => ({ image, failure: null, status: 0 }),
      (error: Error) => ({ image: null, failure: error.message.split('\n')[0] ?? '', status: 0 }),
    ),
  );

const fromService = (url: string) =>
  timed(async () => {
    try {
      const response = await fetch(url);
      const body = Buffer.from(await response.arrayBuffer());
      if (response.ok) return { image: body, failure: null, status: response.status };
      const { code, message } = JSON.parse(body.toString());
      return {
        image: null,
        failure: `${response.status} ${code}, ${message}`,
        status: response.status,
      };
    } catch (error) {
      return { image: null, failure: String(error), status: 0 };
    }
  });

let shownAt = 0;
function progress(done: number): void {
  const everyMs = process.stderr.isTTY ? 200 : 10_000;
  if (performance.now() - shownAt < everyMs && done < files.length) return;
  shownAt = performance.now();
  const text = `${done} of ${files.length} pictures`;
  process.stderr.write(process.stderr.isTTY ? `\r${text}` : `${text}\n`);
}

const verdicts: Verdict[] = [];
// URLs have numbers, because file names may have any bytes.
const origin = await serveBodies((target) => {
  const file = files[Number(target.slice(1))];
  return file === undefined ? undefined : readFile(join(folder, file));
});
const service = await deployService({ SERVICE_DISK_CACHE_BYTES: '0' });
let stopped = false;
process.once('SIGINT', () => {
  stopped = true;
});
try {
  for (const [index, file] of files.entries()) {
    if (stopped) break;
    const source = await readFile(join(folder, file));
    const address = encodeURIComponent(`${origin.url}/${index}`);
    for (const request of requests) {
      const url = `${service.url}/img/?url=${address}&project=${service.project}&${request.query}`;
      const made = await fromService(url);
      const expected = await fromSharp(source, request);
      verdicts.push(await judge({ file, request: request.name }, made, expected, limits));
    }
    progress(index + 1);
  }
} finally {
  await service.close();
  await origin.close();
}
if (process.stderr.isTTY) process.stderr.write('\n');
if (options.json !== undefined) await writeFile(options.json, JSON.stringify(verdicts, null, 1));
process.stdout.write(summary(verdicts));
if (stopped || verdicts.some(isWrong)) process.exitCode = 1;
