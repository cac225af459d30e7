import type { S3Server } from '../servers/s3.ts';
import { variables } from '../servers/s3.ts';

/** Deadline of a read from the bucket, in ms. */
export const deadlineMs = 300;

/** Settings of a machine that uses the bucket through the port of a `Link`. */
export const bucketSettings = (
  { url, port }: S3Server,
  linkPort: number,
): Record<string, string> => ({
  ...variables,
  SERVICE_SHARED_CACHE_URL: url.replace(`:${port}`, `:${linkPort}`),
  SERVICE_SHARED_CACHE_TIMEOUT_MS: String(deadlineMs),
});
