import { newCommand, settingsFromCommandLine } from '../contract/settings/command-line.ts';
import { startTemporaryService } from '../server/local/temporary-service.ts';
import { newProjectId } from '../store/identifiers.ts';
import { takeFreePorts } from './free-ports.ts';
import { startSampleOrigin } from './origin/origin.ts';
import { pictureNames } from './origin/pictures.ts';

/**
 * A demo: an origin with sample images, the service with access to it, a worker and a project. The
 * data is in a temporary folder, which the demo deletes at its end.
 */

/** The images that the demo prints URLs of. */
const examples: ReadonlyArray<readonly [title: string, picture: string, parameters: string]> = [
  ['A large JPEG, small and as WebP', 'landscape.jpg', 'w=800&fmt=webp'],
  ['A square part of it, for a high-density screen', 'landscape.jpg', 'w=320&h=320&dpr=2'],
  ['Transparency kept', 'lantern.png', 'w=400&fmt=webp'],
  ['An animation, as WebP', 'pulse.gif', 'w=240&fmt=webp'],
];

const localHost = '127.0.0.1';

const command = newCommand('demo').description(
  'Run the service and its worker with temporary data, sample images and a project. Chooses a free port if a default port is in use.',
);
// Strangers in the same network need no demo.
process.env['SERVICE_HOST'] ||= localHost;
const { settings: given } = settingsFromCommandLine(
  command,
  [
    'host',
    'port',
    'baseUrl',
    'httpEngine',
    'processes',
    'poolThreads',
    'workerPort',
    'workerHost',
    'logLevel',
    'logFormat',
  ],
  { host: `${localHost}, reachable from this machine only` },
);

// Bundles cannot use a top-level await.
async function demo(): Promise<void> {
  await takeFreePorts(given).catch((error: Error) => command.error(error.message));
  const origin = await startSampleOrigin();
  const project = newProjectId();
  const urls = pictureNames.map((name) => `${origin.url}/${name}`);
  const { settings, key } = await startTemporaryService({
    program: 'start',
    settings: {
      SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*',
      SERVICE_CONSOLE_PICTURES: [project, ...urls].join(' '),
    },
    project: {
      id: project,
      name: 'Demo',
      origin: `${origin.url}/`,
      allowedOrigins: ['127.0.0.1'],
    },
    close: () => origin.close(),
  });
  const links = examples.map(([title, name, parameters]) => {
    const source = encodeURIComponent(`${origin.url}/${name}`);
    return `  ${title}:\n  ${settings.baseUrl}/img/${source}?project=${project}&${parameters}\n`;
  });
  process.stdout.write(`
The demo is running. Open the playground in a browser:

  ${settings.baseUrl}/

Or these images:

${links.join('\n')}
All sample pictures:  ${origin.url}/
Project:              ${project}
API key:              ${key}

The apps of sdk/examples/ show these pictures with this environment:

  IMAGES_URL=${settings.baseUrl} IMAGES_PROJECT=${project} IMAGES_ORIGIN=${origin.url}

Ctrl-C stops everything and deletes the data.
`);
}

void demo();
