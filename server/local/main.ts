import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { documentPath } from '../../contract/package.ts';
import { newCommand, settingsFromCommandLine } from '../../contract/settings/command-line.ts';
import { maxPicturesText } from '../../contract/settings/lists.ts';
import { fileNames } from '../../pool/source/folder.ts';
import { percentEncode } from '../image/source-url.ts';
import { startTemporaryService } from './temporary-service.ts';

/** `npm run serve -- <folder>`: a service for the images in a folder. */

/** Constant, so that pages under development can use its URLs. */
const projectId = 'prj_localpictures000';
/** Number of images with printed URLs. */
const exampleCount = 3;
/** Maximum images on the page. */
const maxListed = 100;
/** Maximum folder entries to search for images; more take too long. */
const maxEntries = 20_000;
const pictureName = /\.(?:jpe?g|jpe|jfif|a?png|webp|gif|avif|jxl|hei[cf]|hif|tiff?|svg|bmp|ico)$/i;
/** Stands for the folder, which the service reads itself. */
const pictureHost = 'pictures.invalid';
/** Can be overridden by the option `--host`. */
const localHost = '127.0.0.1';

const command = newCommand('serve')
  .description(
    'Serve the images in a folder and its subfolders, in any size and format, to this machine. Writes nothing to the folder; caches and settings are temporary.',
  )
  .argument('<folder>', 'the folder with images');
const { settings: given, given: options } = settingsFromCommandLine(
  command,
  ['host', 'port', 'baseUrl', 'httpEngine', 'processes', 'poolThreads', 'logLevel', 'logFormat'],
  { host: `${localHost}, reachable from this machine only; ignores SERVICE_HOST` },
);
async function existingFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
    return command.error(`${path} is a file: name the folder that it is in`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      return command.error(`The folder ${path} does not exist, relative to ${process.cwd()}`);
    return command.error(`${path} cannot be read: ${code}`);
  }
}

/** A setting of this command, which its options can change and the environment cannot. */
const own = (variable: string, value = ''): Record<string, string> =>
  options.has(variable) ? {} : { [variable]: value };

/** Percent-encoded, because terminals do not recognise parentheses as part of a URL. */
const urlOf = (path: string): string =>
  `https://${pictureHost}/${path.split(sep).map(percentEncode).join('/')}`;

/**
 * Returns the first `count` images below a folder as relative paths, top level first. Does not
 * follow symbolic links.
 */
async function picturesIn(folder: string, count: number): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  let entries = 0;
  for (const below of folders) {
    const list = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
    for (const entry of list.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      entries += 1;
      if (found.length >= count || entries > maxEntries) return found;
      // A hidden file, or a name that URLs cannot contain, such as one with a backslash.
      if (fileNames(`/${encodeURIComponent(entry.name)}`) === null) continue;
      if (entry.isDirectory()) folders.push(join(below, entry.name));
      else if (entry.isFile() && pictureName.test(entry.name)) found.push(join(below, entry.name));
    }
  }
  return found;
}

async function serve(): Promise<void> {
  const folder = await existingFolder(command.args[0] ?? '');
  const sources = (await picturesIn(folder, maxListed + 1)).map(urlOf);
  let listed = [projectId, ...sources.slice(0, maxListed)];
  while (listed.join(' ').length > maxPicturesText) listed = listed.slice(0, -1);

  const { settings, key } = await startTemporaryService({
    program: 'main',
    settings: {
      ...own('SERVICE_HOST', localHost),
      ...own('SERVICE_BASE_URL'),
      SERVICE_INTERNAL_URL: '',
      SERVICE_OPS_PORT: '0',
      // The URLs are guessable, and other sites' pages must not read private images.
      SERVICE_CROSS_SITE: 'off',
      // No worker runs.
      SERVICE_WORKER_PORT: String(given.port),
      // The list's separator can be part of a folder's name.
      SERVICE_ORIGINS: `${pictureHost}=${pathToFileURL(folder).href.replaceAll(',', '%2C')}`,
      SERVICE_CONSOLE_PICTURES: listed.join(' '),
    },
    project: {
      id: projectId,
      name: 'Pictures',
      origin: urlOf(''),
      allowedOrigins: [pictureHost],
    },
    close: async () => {},
  });

  const toUrl = (source: string) => `${settings.baseUrl}/img/${source}?project=${projectId}&w=800`;
  const examples = sources.slice(0, exampleCount).map((source) => `  ${toUrl(source)}`);
  const count = listed.length - 1;
  process.stdout.write(`Serving the pictures in ${folder}${
    settings.host === localHost ? ', to this machine only' : ` on ${settings.host}`
  }. Open them in a browser:

  ${settings.baseUrl}/
${count < sources.length ? `\nThe page lists the first ${count}.\n` : ''}
A picture's URL:

  ${toUrl(`${urlOf('')}<path>`)}
${examples.length === 0 ? '\nThere are no pictures in it yet.\n' : `\nFor example:\n\n${examples.join('\n')}\n`}
You can use h, fmt, q, fit, blur and other parameters instead of w=800 (${documentPath('parameters.md')}).
To change the project's defaults and presets, use the API key ${key}.
Ctrl-C stops the service.
`);
}

void serve();
