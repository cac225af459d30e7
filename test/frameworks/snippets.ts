import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { type Snippet, snippets } from '../../server/console/page/playground/snippets.ts';
import { snippetFacts } from '../service/snippet-facts.ts';
import type { App } from './app.ts';
import { examples } from './examples.ts';
import { visit } from './page.ts';
import { pixelProblem } from './pixels.ts';
import { snippetApps } from './snippet-apps.ts';
import { createProject, type Report, type Stage, withApp } from './stage.ts';

const run = promisify(execFile);

interface Case {
  readonly picture: string;
  readonly options: Readonly<Record<string, string>>;
  /** Image box in the layout, in CSS pixels. */
  readonly box: readonly [width: number, height: number];
}

/** State of the playground when a user copies its code. */
const cases: Readonly<Record<string, Case>> = {
  'a photograph with a width': { picture: 'coast.jpg', options: { w: '400' }, box: [400, 267] },
  'a photograph with both sides and more parameters': {
    picture: 'coast.jpg',
    options: { w: '300', h: '300', q: '60', pos: 'west', grayscale: '1', dpr: '2' },
    box: [300, 300],
  },
  'a transparent picture as it is': { picture: 'lantern.png', options: {}, box: [1_600, 2_000] },
  'an SVG': { picture: 'emblem.svg', options: { w: '200' }, box: [200, 200] },
  'an animation': { picture: 'pulse.gif', options: { w: '200' }, box: [200, 200] },
  'an animation wider than its source': {
    picture: 'pulse.gif',
    options: { w: '600', ar: '2:1' },
    box: [420, 210],
  },
};

const screens = [
  { width: 2_400, deviceScaleFactor: 1 },
  { width: 2_400, deviceScaleFactor: 2 },
];
const areClose = ([width, height]: readonly number[], box: Case['box'], by: number): boolean =>
  Math.abs((width ?? 0) - box[0]) <= by && Math.abs((height ?? 0) - box[1]) <= by;

/** Returns the faults of a snippet's page. */
async function pageProblems(
  stage: Stage,
  url: string,
  { box, picture }: Case,
  hasStyle: boolean,
  roundsUp: boolean,
): Promise<string[]> {
  const problems: string[] = [];
  const attributes = hasStyle ? ([0, 0] as const) : box;
  for (const screen of screens) {
    const seen = await visit(stage.browser, url, screen);
    problems.push(...seen.problems);
    const [image] = seen.shown;
    if (image === undefined || seen.shown.length > 1) {
      problems.push(`${seen.shown.length} images`);
      continue;
    }
    const [width, height] = image.natural;
    const isRight =
      areClose(image.attributes, attributes, 0) &&
      areClose(image.box, box, 0.5) &&
      Math.abs(width / height - box[0] / box[1]) < 0.02;
    if (!isRight) problems.push(`instead of ${box.join(' x ')}: ${JSON.stringify(image)}`);
    for (const seenImage of seen.images) {
      const problem = await pixelProblem(seenImage, stage.service.url, roundsUp);
      if (problem !== null) problems.push(problem);
      problems.push(...(await responseProblems(seenImage.url, picture.endsWith('.gif'))));
    }
  }
  return [...new Set(problems)];
}

/**
 * Returns the faults of a snippet's image: a service warning, or an animation that stands still.
 */
async function responseProblems(url: string, isAnimated: boolean): Promise<string[]> {
  const headers = { accept: 'image/webp,*/*', connection: 'close' };
  const response = await fetch(url, { headers });
  const warnings = response.headers.get('x-image-warnings');
  const { pages = 1 } = await sharp(await response.arrayBuffer(), { pages: -1 }).metadata();
  return [
    warnings === null ? [] : `${warnings}: ${url}`,
    pages > 1 === isAnimated ? [] : `${pages} frames: ${url}`,
  ].flat();
}

/** Returns the faults of the image that the curl command writes. */
async function curlProblems(code: string, { box }: Case, dpr: number, parent: string) {
  const cwd = join(parent, 'curl');
  await mkdir(cwd, { recursive: true });
  const { stdout } = await run('sh', ['-c', code], { cwd });
  const { width, height } = await sharp(await readFile(join(cwd, 'image'))).metadata();
  const isRight = areClose([width / dpr, height / dpr], box, 0.5);
  if (stdout.startsWith('HTTP/1.1 200 ') && isRight) return [];
  return [`${stdout}${width} x ${height} px`];
}

/** Runs the playground snippets that belong to an example: builds their apps and opens them. */
export async function checkSnippets(
  stage: Stage,
  example: string,
  app: App,
  parent: string,
  report: Report,
): Promise<void> {
  const { roundsUp = false } = examples[example] ?? {};
  const plain = await createProject(stage, 'plain');
  const signed = await createProject(stage, 'signed without bounds');
  for (const [name, given] of Object.entries(cases)) {
    const { options } = given;
    const { originUrl, service } = stage;
    const image = { source: `${originUrl}/${given.picture}`, options };
    const dpr = Number(options['dpr'] ?? 1);
    const page = { site: originUrl, dpr };
    const project = plain.IMAGES_PROJECT;
    const facts = await snippetFacts(service.url, { ...image, project }, page);
    const findSnippets = (id: string): readonly Snippet[] =>
      snippets(service.url, { ...image, project: id }, 'image/webp,*/*', facts);
    const ofSigned = findSnippets(signed.IMAGES_PROJECT);
    for (const { title, code } of findSnippets(project)) {
      const about = `${title} snippet of ${name}`;
      if (title === 'curl') {
        if (example !== 'html') continue;
        report(about, await curlProblems(code ?? '', given, dpr, parent));
        continue;
      }
      const own = snippetApps[title];
      if (own === undefined) throw new Error(`test/frameworks/snippet-apps.ts lacks ${title}`);
      if (own.example !== example) continue;
      const written =
        title === 'Signed' ? ofSigned.find((snippet) => snippet.title === title) : { code };
      await app.write(own.files(written?.code ?? ''));
      await withApp(app.start('start', signed), async (url) => {
        report(about, await pageProblems(stage, url, given, own.hasStyle === true, roundsUp));
      });
    }
  }
}
