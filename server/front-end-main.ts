import { createLogger } from '../contract/log.ts';
import { settingsOrExit } from '../contract/settings/load.ts';
import { channelToPrimary } from './cluster/channel.ts';
import { createFrontEnd } from './front-end.ts';

/** The entry of a front end, which the primary forks. */

const settings = settingsOrExit();
const log = createLogger(settings, 'front-end');

// The primary ends the front ends, also when a terminal or a service manager signals the whole group.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => {});
/**
 * A front end without its primary ends at once. The normal exit, which node:cluster would make, waits for
 * threads, and a thread inside native code may never end.
 */
const endOrphaned = (): void => void process.kill(process.pid, 'SIGKILL');
process.prependListener('disconnect', endOrphaned);
if (process.connected === false) endOrphaned();
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'this process ends because of an uncaught exception');
  process.exit(1);
});

async function serve(): Promise<void> {
  const frontEnd = await createFrontEnd(settings, channelToPrimary(), log);
  await frontEnd.start();
  await frontEnd.drained;
  process.exit(0);
}

void serve();
