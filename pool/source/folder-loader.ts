import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { ServiceError } from '../../contract/errors.ts';
import { Semaphore } from '../semaphore.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { readBody, releaseBody, sourceTooLarge } from './body.ts';
import {
  type Fetched,
  type FetchOptions,
  type NotModified,
  urlDigest,
  type Validators,
} from './fetch.ts';
import { withinDeadline } from './fetch-deadline.ts';
import { findErrorCode, outOfDescriptors } from './fetch-errors.ts';
import { type FolderFile, fileNames, openInFolder } from './folder.ts';
import { noFreshness } from './response-headers.ts';
import type { SourceLoader } from './source-loader.ts';
import { findInAnyForm } from './unicode-forms.ts';

/** Bytes per read. */
const chunkBytes = 256 * 1024;

/**
 * Limits concurrent reads across all folders. Each read occupies one of the process's libuv
 * threads, and transforms and the disk cache need the other threads if a network file system hangs.
 */
const semaphore = new Semaphore(3);

/** Error codes for a missing file. */
const missing = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO']);
const refused = new Set(['EACCES', 'EPERM']);

/** Loads files in a folder and its subfolders, by the URL's path. Ignores the query. */
export function folderLoader(identity: string, folder: string): SourceLoader {
  return {
    identity,
    fetch: (url, options) =>
      withinDeadline(options, async (signal, report) => {
        report(`reading the folder of ${url.hostname}`);
        const leave = await semaphore.enter(signal);
        const reading = readFile(folder, url, { ...options, signal }).finally(leave);
        const release = ({ bytes }: Fetched | NotModified) => {
          if (bytes !== null) releaseBody(bytes, options);
        };
        // A hanging file system call cannot be cancelled, and must not delay the end.
        return unlessAborted(reading, signal, () => void reading.then(release, () => {}));
      }),
  };
}

async function readFile(
  folder: string,
  url: URL,
  options: FetchOptions,
): Promise<Fetched | NotModified> {
  const opened = await open(folder, url);
  try {
    options.signal.throwIfAborted();
    return await read(opened, url, options);
  } finally {
    // After reading, a failed close is harmless, and the caller must get the result.
    await opened.file.close().catch(() => {});
  }
}

async function open(folder: string, url: URL): Promise<FolderFile> {
  const names = fileNames(url.pathname);
  const find = (path: string) => openInFolder(folder, path.split('/'));
  const isMissing = (error: unknown) => missing.has(findErrorCode(error) ?? '');
  const file =
    names &&
    (await findInAnyForm(names.join('/'), find, isMissing).catch((error) =>
      fail(folder, url, error),
    ));
  if (file === null) throw notFound(url);
  return file;
}

async function read(
  { file, stats }: FolderFile,
  url: URL,
  options: FetchOptions,
): Promise<Fetched | NotModified> {
  const { hostname } = url;
  const validators = toValidators(url, stats);
  if (isUnchanged(validators, options.validators)) {
    return { bytes: null, validators, freshness: noFreshness };
  }
  const { maxBytes, signal } = options;
  if (stats.size > maxBytes) throw sourceTooLarge(maxBytes);
  const chunks = file.createReadStream({ highWaterMark: chunkBytes, autoClose: false, signal });
  const limits = { ...options, length: Number(stats.size) };
  const bytes = await readBody(withServiceErrors(chunks, hostname), limits);
  const after = await file.stat({ bigint: true }).catch(() => null);
  const isSame = after !== null && toValidators(url, after).etag === validators.etag;
  if (isSame) return { bytes, contentType: null, validators, freshness: noFreshness };
  releaseBody(bytes, options);
  throw unreadable(hostname, 'it changed while it was read');
}

/**
 * Returns an entity tag from inode, size and time; two changes within the clock's resolution can
 * share it.
 */
function toValidators(url: URL, { ino, size, mtimeNs, mtime }: BigIntStats): Validators {
  const etag = `"${[ino, size, mtimeNs].map((part) => part.toString(36)).join('-')}"`;
  return { resource: urlDigest(url), etag, lastModified: mtime.toUTCString() };
}

const isUnchanged = (now: Validators, known: Validators | undefined): boolean =>
  known?.resource === now.resource && known.etag === now.etag;

/** Yields the chunks, and throws read errors as ServiceError. */
async function* withServiceErrors(chunks: AsyncIterable<Uint8Array>, hostname: string) {
  try {
    yield* chunks;
  } catch (error) {
    throw unreadable(hostname, `it cannot be read (${findErrorCode(error) ?? 'unknown'})`, error);
  }
}

/** Throws the error for a file that cannot be opened, without its path, which is internal. */
async function fail(folder: string, url: URL, error: unknown): Promise<never> {
  const overloaded = outOfDescriptors(error);
  if (overloaded !== null) throw overloaded;
  const code = findErrorCode(error) ?? 'unknown';
  // If the folder itself is missing, for example not mounted, its files are not deleted.
  if (missing.has(code) && (await isFolder(folder))) throw notFound(url);
  if (refused.has(code)) {
    const text = `The service has no permission to read the source in the folder of ${url.hostname} (${code}).`;
    throw new ServiceError('source_forbidden', text, error);
  }
  throw unreadable(url.hostname, `it cannot be opened (${code})`, error);
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

const notFound = ({ hostname }: URL) =>
  new ServiceError('source_not_found', `The source was not found in the folder of ${hostname}.`);

function unreadable(hostname: string, what: string, cause?: unknown): ServiceError {
  const text = `The source could not be read from the folder of ${hostname}: ${what}.`;
  return new ServiceError('source_unreachable', text, cause);
}
