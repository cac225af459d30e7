import { createLogger } from '../../contract/log.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import { Shutdown } from '../../contract/shutdown.ts';

/** A program whose first shutdown steps fail. */
const settings = loadSettings({});
const shutdown = new Shutdown(createLogger(settings, 'test'), settings);
shutdown.add(async () => process.stdout.write('last\n'));
shutdown.add(() => Promise.reject(new Error('rejected')));
shutdown.add(() => {
  throw new Error('thrown');
});
void shutdown.stop(0);
