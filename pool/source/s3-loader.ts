import { ServiceError } from '../../contract/errors.ts';
import type { S3Location } from '../../contract/s3-location.ts';
import type { Credentials } from '../s3/credentials.ts';
import { bucketUrl, objectPath } from '../s3/object-url.ts';
import { sign } from '../s3/sign.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { fetchSource } from './fetch.ts';
import { withinDeadline } from './fetch-deadline.ts';
import type { SourceLoader } from './source-loader.ts';
import { findInAnyForm } from './unicode-forms.ts';

export interface S3LoaderOptions {
  readonly location: S3Location;
  /** @throws Error without secrets */
  readonly credentials: () => Promise<Credentials>;
  /** Whether the operator configured the endpoint, which can then be in a private network. */
  readonly trusted: boolean;
}

/** S3's limit. */
const maxKeyBytes = 1_024;

/** Loads a bucket's objects by the URL's path. Ignores the query. */
export function s3Loader(identity: string, options: S3LoaderOptions): SourceLoader {
  const { location, credentials, trusted } = options;
  const bucket = bucketUrl(location);
  return {
    identity,
    trustedUrl: trusted ? bucket : null,
    fetch: (url, fetchOptions) =>
      withinDeadline(fetchOptions, async (signal, report) => {
        const key = toKey(url);
        if (
          bucket.protocol !== 'https:' &&
          !trusted &&
          !fetchOptions.guard.isPrivateSource(bucket)
        ) {
          throw new ServiceError('source_blocked', `${url.hostname}'s bucket requires https.`);
        }
        const load = async (form: string) => {
          const path = toObjectPath(location, form, url);
          report(`waiting for the credentials of the bucket of ${url.hostname}`);
          const request = { method: 'GET', url: bucket, path, region: location.region };
          const signing = credentials().then((known) =>
            sign({ ...request, credentials: known, now: Date.now() }),
          );
          const signed = await unlessAborted(signing, signal).catch((error: unknown) => {
            const text = `The service has no valid credentials for the bucket of ${url.hostname}.`;
            throw new ServiceError('source_unreachable', text, error);
          });
          report(`waiting for the bucket of ${url.hostname}`);
          const sent = { ...fetchOptions, signal, path, credentials: signed, maxRedirects: 0 };
          const target = new URL(bucket);
          target.pathname = path;
          return fetchSource(target, sent).catch((error) => {
            throw withoutHost(error, bucket, url);
          });
        };
        return findInAnyForm(key, load, isMissing);
      }),
  };
}

const notFound = ({ hostname }: URL): ServiceError =>
  new ServiceError('source_not_found', `The source was not found in the bucket of ${hostname}.`);

/** Decodes a key once. */
function toKey(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.slice(1));
  } catch {
    throw notFound(url);
  }
}

/** Without the permission to list a bucket, S3 also returns 403 for a missing object. */
const isMissing = (error: unknown): boolean =>
  error instanceof ServiceError && ['source_not_found', 'source_forbidden'].includes(error.code);

/** Refuses other systems' path separators, because the bucket can be a folder. */
function toObjectPath(location: S3Location, key: string, url: URL): string {
  try {
    const isAmbiguous = /[\p{Cc}\\]/u.test(key);
    const bytes = Buffer.byteLength(location.prefix + key);
    if (!isAmbiguous && bytes <= maxKeyBytes) return objectPath(location, key);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw notFound(url);
}

/**
 * Replaces the bucket's host in an error by the URL's host, because clients must not see the
 * bucket.
 */
function withoutHost(error: unknown, target: URL, { hostname }: URL): unknown {
  if (!(error instanceof ServiceError)) return error;
  const text = error.message.replaceAll(target.hostname, `the bucket of ${hostname}`);
  return new ServiceError(error.code, text, error.cause, error.details);
}
