import { newCommand, settingsFromCommandLine } from '../contract/settings/command-line.ts';
import { Primary } from './primary.ts';

/** The entry of the primary. */
const { settings } = settingsFromCommandLine(
  newCommand('server').description('Run only the service, which delivers images.'),
);
void new Primary(settings).start();
