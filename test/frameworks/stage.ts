import type { Browser } from 'playwright-core';
import { startSampleOrigin } from '../../demo/origin/origin.ts';
import { createClient } from '../../sdk/src/client/index.ts';
import { noChromium, startChromium } from '../service/chromium.ts';
import { type Service, startService } from '../service/service.ts';
import type { App, RunningApp } from './app.ts';
import { type Example, examples } from './examples.ts';
import { type PageImage, type Screen, visit } from './page.ts';
import { pixelProblem } from './pixels.ts';
import { refusalProblems } from './webpack.ts';

const apiKey = 'sk_key-of-the-frameworks';
const screens: readonly Screen[] = [390, 900, 1_600].flatMap((width) =>
  [1, 2, 3].map((deviceScaleFactor) => ({ width, deviceScaleFactor })),
);
/** The projects that an app runs with. */
const projectNames = ['plain', 'bounded', 'signed'] as const;
type ProjectName = (typeof projectNames)[number] | 'signed without bounds';
/** Settings of projects with bounds. */
const bounds = { defaultDpr: 2, maxWidth: 1_500 };

/** Resources for the examples. */
export interface Stage {
  readonly browser: Browser;
  readonly service: Service;
  readonly originUrl: string;
}

interface Teardown {
  teardown(action: () => unknown): void;
}

/** Writes the checked item and its faults. */
export type Report = (title: string, problems: readonly string[]) => void;

/**
 * Starts Chromium, the sample origin and a service.
 * @throws Error without Chromium
 */
export async function startStage(t: Teardown): Promise<Stage> {
  if (noChromium !== false) throw new Error(noChromium);
  const origin = await startSampleOrigin();
  t.teardown(() => origin.close());
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: apiKey } });
  return { browser: await startChromium(t), service, originUrl: origin.url };
}

/** Creates a project, and resolves with the settings of an app that uses it. */
export async function createProject({ service, originUrl }: Stage, name: ProjectName) {
  const projectId = await service.project();
  const client = createClient({ baseUrl: service.url, apiKey });
  const isBounded = name === 'bounded' || name === 'signed';
  if (isBounded) await client.updateProjectSettings({ projectId, ...bounds });
  const printed = name.startsWith('signed')
    ? await service.admin('projects', 'sign', projectId)
    : '';
  const [secret = ''] = /\S{30,}/.exec(printed) ?? [];
  return {
    IMAGES_URL: service.url,
    IMAGES_ORIGIN: originUrl,
    IMAGES_PROJECT: projectId,
    IMAGES_MAX_WIDTH: String(isBounded ? bounds.maxWidth : 0),
    ...(secret === '' ? {} : { IMAGES_SECRET: secret }),
  };
}

/** Calls with a running app. */
export async function withApp<T>(started: Promise<RunningApp>, use: (url: string) => Promise<T>) {
  const app = await started;
  try {
    return await use(app.url);
  } finally {
    await app.end();
  }
}

/** Opens a page on all screens, and fetches its images. */
async function checkPage({ browser, service }: Stage, url: string, roundsUp: boolean) {
  const images = new Map<string, PageImage>();
  const problems: string[] = [];
  for (const screen of screens) {
    const seen = await visit(browser, url, screen);
    const at = `${screen.width} px at ${screen.deviceScaleFactor}x`;
    problems.push(...seen.problems.map((problem) => `${at}: ${problem}`));
    for (const image of seen.images) images.set(Object.values(image).join(' '), image);
  }
  if (images.size === 0) problems.push('the page has no images');
  for (const image of images.values()) {
    const problem = await pixelProblem(image, service.url, roundsUp);
    if (problem !== null) problems.push(problem);
  }
  return { count: images.size, problems };
}

/** Opens the page of a development server. */
async function checkDevelopment(stage: Stage, url: string, example: Example): Promise<string[]> {
  const [, screen = { width: 900, deviceScaleFactor: 2 }] = screens;
  const { images, problems } = await visit(stage.browser, url, screen, example.development);
  const own = images.filter((image) => image.url.startsWith(url));
  const isOwn = own.length > 0 === (example.ownImages === true);
  const found = isOwn ? [] : [`${own.length} images of ${url}`];
  return images.length === 0 ? ['the page has no images'] : [...problems, ...found];
}

/** Runs an example with all projects, and in development. */
export async function checkExample(
  stage: Stage,
  name: string,
  app: App,
  report: Report,
): Promise<void> {
  const example = examples[name] ?? {};
  const { signedPage, roundsUp = false, browserBundle, program } = example;
  for (const project of projectNames) {
    const page = project === 'signed' ? signedPage : '';
    if (page === undefined) continue;
    const environment = await createProject(stage, project);
    await withApp(app.start('start', environment), async (url) => {
      const { count, problems } = await checkPage(stage, `${url}${page}`, roundsUp);
      report(`${name}: ${count} images of a ${project} project`, problems);
    });
  }
  const environment = await createProject(stage, 'plain');
  await withApp(app.start('dev', environment), async (url) => {
    report(`${name}: development`, await checkDevelopment(stage, url, example));
  });
  if (program !== undefined) {
    const errors = await app.typeErrors(program);
    report(`${name}: types`, errors === '' ? [] : [errors]);
  }
  for (const command of browserBundle?.builds ?? []) {
    const printed = await app.buildWithSecret(browserBundle?.file ?? '', command);
    report(`${name}: ${command.join(' ')} refuses ./sign in browsers`, refusalProblems(printed));
  }
}
