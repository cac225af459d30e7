import { newCommand } from '../contract/new-command.ts';
import { settingsFromCommandLine } from '../contract/settings/command-line.ts';
import { Primary } from './primary.ts';

/** The entry of the primary. */
const { settings } = settingsFromCommandLine(
  newCommand('server').description(
    'Delivers transformed images, without the worker that prewarms them.',
  ),
  ['port', 'opsPort'],
);
void new Primary(settings).start();
