import { type Behaviour, behaviours, differences, identify } from './servers.ts';

/**
 * First step of `npm run test:store`: prints the tests' server and its known differences. Exits
 * with code 2 if there is no server.
 */
async function main(): Promise<number> {
  const url = process.env['SERVICE_MONGODB_URL'];
  if (!url) {
    process.stderr.write(
      'SERVICE_MONGODB_URL is not set. It names the server for these tests, for example mongodb://127.0.0.1:27017/.\n',
    );
    return 2;
  }
  try {
    const { name, version } = await identify(url);
    process.stdout.write(`The tests use the server of SERVICE_MONGODB_URL: ${name} ${version}.\n`);
    for (const [behaviour, { reason, handling }] of Object.entries(differences[name])) {
      const expected = behaviours[behaviour as Behaviour];
      process.stdout.write(`Expected: ${expected}. Here ${reason}. Handling: ${handling}.\n`);
    }
    return 0;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `The server that SERVICE_MONGODB_URL names does not respond: ${reason}.\n`,
    );
    return 2;
  }
}

process.exitCode = await main();
