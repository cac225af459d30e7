import type { S3Server } from '../servers/s3.ts';
import { variables } from '../servers/s3.ts';

/** The deadline of a read, ms. */
export const deadlineMs = 300;

/** The settings of a machine that reaches the bucket of a server at another port of 127.0.0.1. */
export const bucketSettings = (
  { url, port }: S3Server,
  linkPort: number,
): Record<string, string> => ({
  ...variables,
  SERVICE_SHARED_CACHE_URL: url.replace(`:${port}`, `:${linkPort}`),
  SERVICE_SHARED_CACHE_TIMEOUT_MS: String(deadlineMs),
});
