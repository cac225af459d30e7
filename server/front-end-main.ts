import { createLogger } from '../contract/log.ts';
import { settingsOrExit } from '../contract/settings/load.ts';
import { channelToPrimary } from './cluster/channel.ts';
import { createFrontEnd } from './front-end.ts';

/** The entry of a front end, which the primary forks. */

const settings = settingsOrExit();
const log = createLogger(settings, 'front-end');

// The primary ends the front ends, even if a terminal or a service manager signals the whole group.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => {});
/**
 * Ends a front end at once if its primary has ended. A normal exit, as in node:cluster, waits for
 * threads, and a thread inside native code might never end.
 */
const endOrphaned = (): void => void process.kill(process.pid, 'SIGKILL');
process.prependListener('disconnect', endOrphaned);
if (process.connected === false) endOrphaned();
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'exiting after uncaught exception');
  process.exit(1);
});

async function serve(): Promise<void> {
  const frontEnd = await createFrontEnd(settings, channelToPrimary(), log);
  await frontEnd.start();
  await frontEnd.drained;
  process.exit(0);
}

void serve();
