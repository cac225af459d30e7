import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type S3Server, startS3, variables } from '../../../bench/servers/s3.ts';

export { refusing, silent, variables } from '../../../bench/servers/s3.ts';

/** Starts an S3 server that ends with the test and rejects requests with other signatures. */
export async function startTestS3(t: {
  teardown(action: () => Promise<void>): void;
}): Promise<S3Server> {
  const server = await startS3(isSigned);
  t.teardown(() => server.close());
  return server;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();

/**
 * Verifies AWS Signature Version 4 of the sent target and headers. Shares no code with the client,
 * and so no errors.
 */
function isSigned({ method, url = '', headers }: IncomingMessage, body: Buffer): boolean {
  const authorization = headers.authorization ?? '';
  const [, id, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(
      authorization,
    ) ?? [];
  const [path = '', query = ''] = url.split('?');
  const digest = String(headers['x-amz-content-sha256']);
  const date = String(headers['x-amz-date']);
  const canonical = [
    method,
    path,
    query.split('&').sort().join('&'),
    ...names.split(';').map((name) => `${name}:${headers[name]}`),
    '',
    names,
    digest,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>(hmac, `AWS4${variables.AWS_SECRET_ACCESS_KEY}`);
  const isRight = hmac(key, text).toString('hex') === signature;
  const isWhole = digest === sha256(body) && names.startsWith('host;');
  return isRight && isWhole && id === variables.AWS_ACCESS_KEY_ID && scope === toScope(date);
}

const toScope = (date: string): string => `${date.slice(0, 8)}/eu-test-1/s3/aws4_request`;
