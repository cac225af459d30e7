import { type S3Server, startS3 as start } from '../../../bench/servers/s3.ts';

export { refusing, silent, variables } from '../../../bench/servers/s3.ts';

/** An S3 server that ends with the test. */
export async function startS3(t: {
  teardown(action: () => Promise<void>): void;
}): Promise<S3Server> {
  const server = await start();
  t.teardown(() => server.close());
  return server;
}
