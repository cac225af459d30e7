import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import sharp from 'sharp';
import { deployService } from '../../bench/servers/service.ts';
import { numberFrom } from '../../demo/arguments.ts';
import { serveBodies } from '../../demo/origin/bodies.ts';
import { recognise } from '../../pool/formats/source-formats.ts';
import { noChromium } from '../service/chromium.ts';
import { type Browser, startBrowser } from './browser.ts';
import { findFeatures } from './features.ts';
import { type Request, reference, requests } from './reference.ts';
import { groupVerdicts, summary } from './report.ts';
import {
  type Attempt,
  isWrong,
  judge,
  type Limits,
  type Reference,
  type Verdict,
} from './verdict.ts';

/**
 * `npm run test:pictures -- FOLDER`: compares the service's images of a folder with Chromium's or
 * sharp's images.
 */

const notNegative = numberFrom(0, Number.MAX_VALUE);

interface Options {
  readonly json?: string;
  readonly sharp: boolean;
  readonly only?: string;
  readonly mean: number;
  readonly most: number;
  readonly sharpMean: number;
  readonly sharpMost: number;
  readonly slow: number;
  readonly slowMs: number;
  readonly match: string;
  readonly examples: number;
  readonly allowed: number;
}

const endings = 'jpe?g|jfif|png|apng|gif|webp|avif|hei[cf]|hif|tiff?|svgz?|bmp|dib|ico|cur|jxl';
const command = new Command('test:pictures')
  .description(
    'Requests each picture of a folder from the service, whole and 256 px wide, both as PNG, and lists those that differ from the reference, fail, or are slow, in groups. Each subfolder is a collection with groups of its own. Starts a service, Chromium and an HTTP origin on this machine, and uses no network.',
  )
  .argument('<folder>', 'folder of pictures or of collections, including all subfolders')
  .option('--json <file>', 'write all verdicts to this file')
  .option('--match <pattern>', 'a regular expression that paths must match', `\\.(?:${endings})$`)
  .option('--only <request>', 'make only this request: whole or small')
  .option('--sharp', 'compare all pictures with sharp, without Chromium', false)
  .option('--mean <n>', "tolerated mean difference of a channel from Chromium's", notNegative, 3)
  .option('--most <n>', "tolerated difference of any pixel from Chromium's", notNegative, 255)
  .option('--sharp-mean <n>', "tolerated mean difference from sharp's, 0..255", notNegative, 1)
  .option('--sharp-most <n>', "tolerated difference of any pixel from sharp's", notNegative, 16)
  .option('--slow <factor>', "slow is more than this multiple of sharp's time", notNegative, 3)
  .option('--slow-ms <ms>', 'and at least this long', notNegative, 250)
  .option('--examples <n>', 'list at most this many pictures of a group', notNegative, 5)
  .option('--allowed <n>', 'succeed if no group has more pictures than this', notNegative, 0)
  .addHelpText(
    'after',
    `
The reference of a whole picture is Chromium's <img>, where Chromium shows the format, and of an SVG also when it is
small. An SVG whose size a page decides is compared at the service's size. The reference of all others is a plain sharp
pipeline. Chromium decodes and scales with other libraries, so only the mean counts; sharp has the same libraries, and
both write PNG, so images should be equal, and the tolerance is for rounding of colours and sizes. Alpha has the same
tolerances. Times are of one request at a time, and include the fetch of the source.

A group has the pictures of a collection with the same extension, request, outcome and kind of difference, and for SVG
the same features, such as text.

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

if (options.only !== undefined && !requests.some(({ name }) => name === options.only)) {
  command.error(`${options.only} is no request: whole or small`);
}
if (!options.sharp && noChromium !== false) command.error(`${noChromium}; or use --sharp`);

const pattern = new RegExp(options.match, 'i');
const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  .filter((file) => pattern.test(file))
  .sort();
if (files.length === 0) command.error(`${folder} has no pictures`);

const slow = { slowFactor: options.slow, slowMs: options.slowMs };
const limits: Readonly<Record<Reference, Limits>> = {
  Chromium: {
    mean: options.mean,
    most: options.most,
    ...slow,
    slowFactor: Number.POSITIVE_INFINITY,
  },
  sharp: { mean: options.sharpMean, most: options.sharpMost, ...slow },
};
sharp.cache(false);
sharp.concurrency(1);

async function timed(attempt: () => Promise<Omit<Attempt, 'ms'>>): Promise<Attempt> {
  const startedAt = performance.now();
  const result = await attempt();
  return { ...result, ms: performance.now() - startedAt };
}

/** Returns a reference's result, or its message. */
const attempted = (draw: () => Promise<Buffer>) =>
  timed(() =>
    draw().then(
      (image) => ({ image, failure: null, status: 0 }),
      (error: Error) => ({ image: null, failure: error.message.split('\n')[0] ?? '', status: 0 }),
    ),
  );

/** Formats that Chromium shows. */
const shown = new Set(['jpeg', 'png', 'webp', 'gif', 'avif', 'svg', 'bmp', 'ico']);

/** Returns Chromium's result if it shows the image or its format, otherwise sharp's result. */
async function expectOutcome(index: number, source: Buffer, request: Request, made: Attempt) {
  const format = recognise(source)?.name ?? '';
  const isDrawn = request.name === 'whole' || format === 'svg';
  if (browser !== null && isDrawn) {
    const size = made.image === null ? null : await sharp(made.image).metadata();
    const isSmall = request.name === 'small';
    const drawn = await attempted(() => browser.draw(`/${index}`, size, isSmall));
    if (drawn.image !== null || shown.has(format)) {
      return { name: 'Chromium', expected: drawn } as const;
    }
  }
  return { name: 'sharp', expected: await attempted(() => reference(source, request)) } as const;
}

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
// Number the URLs, because file names can contain any bytes.
const origin = await serveBodies(async (target) => {
  if (target === '/page')
    return {
      type: 'text/html',
      body: Buffer.from('<!doctype html><style>body { margin: 0 } img { display: block }</style>'),
    };
  const file = files[Number(target.slice(1))];
  if (file === undefined) return undefined;
  const body = await readFile(join(folder, file));
  // Browsers recognise the other formats.
  return /\.svg$/i.test(file) ? { type: 'image/svg+xml', body } : body;
});
const service = await deployService({ SERVICE_DISK_CACHE_BYTES: '0' });
const browser: Browser | null = options.sharp ? null : await startBrowser(origin.url);
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopped = true;
  });
}
try {
  const wanted = requests.filter(({ name }) => (options.only ?? name) === name);
  for (const [index, file] of files.entries()) {
    if (stopped) break;
    const source = await readFile(join(folder, file));
    const features = findFeatures(file, source);
    const address = encodeURIComponent(`${origin.url}/${index}`);
    for (const request of wanted) {
      const url = `${service.url}/img/?url=${address}&project=${service.project}&${request.query}`;
      const made = await fromService(url);
      const { name, expected } = await expectOutcome(index, source, request, made);
      const about = { file, request: request.name, reference: name, features };
      verdicts.push(await judge(about, made, expected, limits[name]));
    }
    progress(index + 1);
  }
} finally {
  await browser?.close();
  await service.close();
  await origin.close();
}
if (process.stderr.isTTY) process.stderr.write('\n');
if (options.json !== undefined) await writeFile(options.json, JSON.stringify(verdicts, null, 1));
process.stdout.write(summary(verdicts, options.examples));
const failing = groupVerdicts(verdicts.filter(isWrong)).filter(
  (group) => group.verdicts.length > options.allowed,
);
if (stopped || failing.length > 0) process.exitCode = 1;
