import { type S3Server, startS3 } from '../../../bench/servers/s3.ts';

export { refusing, silent, variables } from '../../../bench/servers/s3.ts';

/** An S3 server that ends with the test. */
export async function startTestS3(t: {
  teardown(action: () => Promise<void>): void;
}): Promise<S3Server> {
  const server = await startS3();
  t.teardown(() => server.close());
  return server;
}
