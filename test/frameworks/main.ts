import { rmSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { App, pack } from './app.ts';
import { builderNames, checkBuilder } from './builders/check.ts';
import { exampleNames, unsupported } from './examples.ts';
import { checkIiif } from './iiif.ts';
import { checkSnippets } from './snippets.ts';
import { checkExample, type Stage, startStage } from './stage.ts';
import { checkWebpack } from './webpack.ts';

/** `npm run test:frameworks`: the examples of the SDK in Chromium. */

const others = ['webpack', 'iiif', ...builderNames];
const names = await exampleNames();
const command = new Command('test:frameworks')
  .description(
    'Packs the SDK, installs it with the frameworks of the npm registry in copies of the apps of sdk/examples/, builds and starts each, and opens its pages in Chromium on screens of three widths and three densities.',
  )
  .argument('[names...]', `of ${[...names, ...others].join(', ')}; all unless some are given`)
  .option('--screenshots <file>', 'with iiif: write pictures of the viewer, such as /tmp/iiif.png')
  .addHelpText(
    'after',
    `
Each app runs with a project without bounds, with one that has a defaultDpr of 2 and a maxWidth, and with one
that requires signed URLs if it can sign. Each image that a page names must come from a service that the
command starts, and have the pixels that srcset says. Pages may neither shift their layout nor write to the
console, also those of the development servers. The code that the playground of the console has for pictures
is built and opened too, as it is. webpack, Next and Vite must refuse ./sign in a bundle for
browsers. urls-cloudinary,
urls-imgix, urls-imgproxy and urls-thumbor request URLs that the builders of these services make from delivery hosts,
signed and unsigned, and compare the images with the native ones; urls-cloudflare and urls-next do so with unpic, and
with an app of Next without a loader, whose own images must have the same sizes; libthumbor needs Python 3 with venv. iiif runs
the official validator of PyPI, level 2 of both versions, and OpenSeadragon with a picture of 40 megapixels, against a
delivery host, with Python 3 too.

It needs the network, Chromium at /usr/bin/chromium and Node 22.19 or newer. With an older version of Node, the
apps whose frameworks need a newer one are skipped with that reason.

Exit code: 0 when all is right; 1 when something is not; 2 when the command cannot run.`,
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse();
const given = command.args.length > 0 ? command.args : [...names, ...others];
const unknown = given.filter((name) => ![...names, ...others].includes(name));
if (unknown.length > 0) command.error(`unknown: ${unknown.join(', ')}`);

const endings: (() => unknown)[] = [];
const t = { teardown: (action: () => unknown) => void endings.unshift(action) };
const print = (text: string): void => void process.stdout.write(`${text}\n`);
process.once('SIGINT', () => process.exit(130));

async function main(): Promise<boolean> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'image-delivery-frameworks-')));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const isApp = (name: string) => name !== 'iiif' && !builderNames.includes(name);
  const tarball = given.some(isApp) ? await pack(folder) : '';
  let stage: Stage | undefined;
  let isGood = true;
  const report = (title: string, problems: readonly string[]): void => {
    isGood &&= problems.length === 0;
    print([`${problems.length === 0 ? 'ok' : 'not ok'} - ${title}`, ...problems].join('\n  '));
  };
  for (const name of given) {
    if (builderNames.includes(name)) {
      report(`the URLs of ${name}`, await checkBuilder(t, name, folder));
    } else if (name === 'iiif') {
      await checkIiif(t, folder, report, command.opts()['screenshots'] ?? null);
    } else if (name === 'webpack') {
      report('webpack refuses ./sign', await checkWebpack(folder, tarball));
    } else {
      const reason = await unsupported(name);
      if (reason !== null) {
        print(`skipped - ${name}: ${reason}`);
        continue;
      }
      stage ??= await startStage(t);
      const app = await App.install(name, tarball, folder);
      await checkExample(stage, name, app, report);
      await checkSnippets(stage, name, app, folder, report);
    }
  }
  return isGood;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 2;
} finally {
  for (const end of endings) await end();
}
