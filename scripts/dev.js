import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { context } from 'esbuild';
import { pageOptions, programOptions, root, writeSdkTypes } from './build.js';

/** `npm run dev`: runs the service and its worker, and builds and restarts them when a source changes. */

let running = null;
let restarts = Promise.resolve();

async function restart() {
  if (running !== null) {
    // SIGINT does not wait for load balancers.
    running.kill('SIGINT');
    if (running.exitCode === null && running.signalCode === null) await once(running, 'exit');
  }
  const program = join(root, 'bin/image-delivery.js');
  const args = ['--enable-source-maps', ...process.execArgv, program, 'start'];
  running = spawn(process.execPath, [...args, ...process.argv.slice(2)], { stdio: 'inherit' });
}

const plugin = {
  name: 'restart',
  setup(build) {
    build.onEnd(({ errors }) => {
      if (errors.length === 0) restarts = restarts.then(restart);
    });
  },
};

await writeSdkTypes();
for (const options of [pageOptions, programOptions]) {
  const plugins = options === programOptions ? [plugin] : [];
  const watched = await context({ ...options, plugins });
  await watched.watch();
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    running?.kill(signal);
    if (running !== null && running.exitCode === null) await once(running, 'exit');
    process.exit(0);
  });
}
