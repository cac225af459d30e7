import { type Behaviour, behaviours, differences, identify } from './servers.ts';

/**
 * The first step of `npm run test:store`: says which server the tests will use and what is known to
 * differ on it. Exit code 2 when there is none.
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
    const { engine, version } = await identify(url);
    process.stdout.write(
      `The tests use the server of SERVICE_MONGODB_URL: ${engine} ${version}.\n`,
    );
    for (const [behaviour, { reason }] of Object.entries(differences[engine])) {
      process.stdout.write(`Expected: ${behaviours[behaviour as Behaviour]}. Here ${reason}.\n`);
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
