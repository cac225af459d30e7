import { createInterface } from 'node:readline';
import { InvalidArgumentError, Option } from 'commander';
import { ServiceError } from '../../contract/errors.ts';
import { newCommand } from '../../contract/settings/command-line.ts';
import { recogniseDialect } from '../../urls/src/index.ts';
import { print, printable } from '../admin/terminal.ts';
import { type ExplainedUrl, explainUrl } from '../image/explain-url.ts';
import { urlKinds } from '../image/host-address.ts';
import { parseSource } from '../image/source-url.ts';

/**
 * `image-delivery explain <URL>` explains an image URL, and `explain --rewrite` rewrites the URLs of
 * standard input, with no service and no store.
 */

interface ExplainOptions {
  readonly urls?: string;
  readonly origin: string;
  readonly base?: string;
  readonly project?: string;
  readonly size?: { readonly width: number; readonly height: number };
  readonly json?: boolean;
  readonly rewrite?: boolean;
}

const projectInUrl = /[?&]project=([^&#]*)/;
const placeholder = 'PROJECT';
const noUrl = '--rewrite reads the URLs from standard input: leave out the argument.';
const sizeNeeded =
  "The meaning of this URL depends on the source's size: add --size, such as --size 6000x4000.";

newCommand('explain')
  .description(
    "Print the native form of an image URL, including another service's, and the meaning of each option. Needs no running service and no store, and does not check signatures.",
  )
  .argument('[url]', 'an image URL, or its path and query')
  .addOption(
    new Option(
      '--urls <service>',
      "the service that the URL is for; default: recognised by the URL's form, or native",
    ).choices(urlKinds),
  )
  .addOption(
    new Option('--origin <url>', "the project's origin, for sources that are paths")
      .argParser(httpUrl)
      .default('https://origin.invalid/', 'sources stay paths'),
  )
  .option('--base <url>', 'the base of the delivery host; default: the origin', httpUrl)
  .option(
    '--project <id>',
    `the project in the native URL; default: the URL's project, or ${placeholder}`,
  )
  .option(
    '--size <WxH>',
    'the source size, such as 6000x4000; needed if the meaning depends on it',
    size,
  )
  .option('--json', 'print a JSON object')
  .option(
    '--rewrite',
    'read a URL per line from standard input, and print the native URL of each, or an empty line',
  )
  .action(async (url: string | undefined, options: ExplainOptions) => {
    if (options.rewrite === true) return url === undefined ? rewrite(options) : fail(noUrl);
    if (url === undefined) return fail('Add an image URL, or --rewrite.');
    const explained = explain(url, options);
    if (typeof explained === 'string') return fail(explained);
    print(options.json === true ? JSON.stringify(explained, null, 2) : written(explained));
  })
  .parseAsync();

interface ExplainedImage extends ExplainedUrl {
  readonly native: string;
}

/** Returns the URL's fault as a sentence if it has no meaning. */
function explain(url: string, options: ExplainOptions): ExplainedImage | string {
  const { origin, base = null, size = null } = options;
  const urls = options.urls ?? recogniseDialect(url.trim()) ?? 'native';
  const _id = options.project ?? (projectInUrl.exec(url)?.[1] || placeholder);
  const host = { host: 'images.invalid', base, urls, updatedAt: new Date(0) };
  const allowedOrigins = [origin, base ?? origin].map((baseUrl) => new URL(baseUrl).hostname);
  const project = { _id, origin, allowedOrigins, presets: {}, stripMetadata: true };
  try {
    const explained = explainUrl(url, { project, host }, size);
    const { native } = explained;
    return native === null ? sizeNeeded : { ...explained, native };
  } catch (error) {
    if (error instanceof ServiceError) return printable(error.message);
    throw error;
  }
}

/** Keeps the order and the number of lines, so that the results match the lines of the input. */
async function rewrite(options: ExplainOptions): Promise<void> {
  let line = 0;
  for await (const url of createInterface({ input: process.stdin })) {
    line += 1;
    const explained = url.trim() === '' ? null : explain(url, options);
    if (typeof explained === 'string') fail(`Line ${line}: ${explained}`);
    print(explained === null || typeof explained === 'string' ? '' : explained.native);
  }
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

function httpUrl(text: string): string {
  const source = parseSource(text);
  if (typeof source === 'string') throw new InvalidArgumentError(source);
  return source.href;
}

function size(text: string): { width: number; height: number } {
  const [, width, height] = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(text) ?? [];
  if (width === undefined)
    throw new InvalidArgumentError('It must be two numbers, such as 6000x4000.');
  return { width: Number(width), height: Number(height) };
}

function written({ source, native, options, ignored }: ExplainedUrl): string {
  const pairs = options.map(({ name, value }) => printable(`${name}=${value}`));
  const width = Math.max(0, ...pairs.map((pair) => pair.length));
  const lines = options.map(
    ({ meaning }, index) => `${(pairs[index] ?? '').padEnd(width)}  ${meaning.replaceAll('`', '')}`,
  );
  const rest = ignored.length === 0 ? [] : [`Ignored: ${printable(ignored.join(', '))}`];
  return [`Source: ${printable(source)}`, `Native: ${native}`, ...lines, ...rest].join('\n');
}
