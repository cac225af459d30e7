import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { ServiceError } from '../../contract/errors.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { readBody, sourceTooLarge } from './body.ts';
import type { Fetched, FetchOptions, NotModified, Validators } from './fetch.ts';
import { withinDeadline } from './fetch-deadline.ts';
import { codeOf } from './fetch-errors.ts';
import { type FolderFile, fileNames, openInFolder } from './folder.ts';
import type { Origin } from './origin.ts';
import { Turns } from './turns.ts';

/** Bytes of each read. */
const chunkBytes = 256 * 1024;

/**
 * Files that are read at a time, of all folders. Each read takes one of libuv's threads, which the process has once:
 * the transforms and the disk cache need the others if network file systems hang.
 */
const turns = new Turns(3);

/** A folder says nothing about the age of its files. */
const freshness = { maxAge: null, staleWhileRevalidate: null, staleIfError: null };

/** Error codes of names that lead to no file. */
const missing = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO']);
const refused = new Set(['EACCES', 'EPERM']);

/** An origin whose sources are the files below a folder, by the path of the URL. The query names no file. */
export function folderOrigin(identity: string, folder: string): Origin {
  return {
    identity,
    fetch: (url, options) =>
      withinDeadline(options, async (signal, report) => {
        report(`reading the folder of ${url.hostname}`);
        const leave = await turns.enter(signal);
        const reading = readFile(folder, url, { ...options, signal }).finally(leave);
        // The system cancels no call: one that hangs must not delay the end.
        return unlessAborted(reading, signal, ({ bytes }) => release(bytes, options));
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
    // A file that was only read loses nothing, and the result keeps its owner.
    await opened.file.close().catch(() => {});
  }
}

/** Gives back the bytes of a result that nobody gets. */
function release(bytes: Uint8Array | null, { budget, owner, memory }: FetchOptions): void {
  if (bytes === null) return;
  budget.release(owner, bytes.byteLength);
  memory.free(bytes);
}

async function open(folder: string, url: URL): Promise<FolderFile> {
  const names = fileNames(url.pathname);
  const file =
    names && (await openInFolder(folder, names).catch((error) => fail(folder, url, error)));
  if (file === null) throw notFound(url);
  return file;
}

async function read(
  { file, stats }: FolderFile,
  { hostname }: URL,
  options: FetchOptions,
): Promise<Fetched | NotModified> {
  const validators = validatorsOf(stats);
  if (isUnchanged(validators, options.validators)) return { bytes: null, validators, freshness };
  const { maxBytes, budget, owner, memory, signal } = options;
  if (stats.size > maxBytes) throw sourceTooLarge(maxBytes);
  const chunks = file.createReadStream({ highWaterMark: chunkBytes, autoClose: false, signal });
  const limits = { maxBytes, budget, owner, memory, length: Number(stats.size) };
  const bytes = await readBody(failing(chunks, hostname), limits);
  const after = await file.stat({ bigint: true }).catch(() => null);
  const isSame = after !== null && validatorsOf(after).etag === validators.etag;
  if (isSame) return { bytes, contentType: null, validators, freshness };
  release(bytes, options);
  throw unreadable(hostname, 'it changed while it was read');
}

/** The file's state as an entity tag; a modification within the resolution of the clock may keep it. */
function validatorsOf({ ino, size, mtimeNs, mtime }: BigIntStats) {
  const etag = `"${[ino, size, mtimeNs].map((part) => part.toString(36)).join('-')}"`;
  return { etag, lastModified: mtime.toUTCString() };
}

/** RFC 9110, 13.2.2: the entity tag decides if it is known. */
function isUnchanged(now: Validators, known: Validators | undefined): boolean {
  if (known === undefined) return false;
  if (known.etag !== null) return known.etag === now.etag;
  return known.lastModified !== null && known.lastModified === now.lastModified;
}

async function* failing(chunks: AsyncIterable<Uint8Array>, hostname: string) {
  try {
    yield* chunks;
  } catch (error) {
    throw unreadable(hostname, `it cannot be read (${codeOf(error) ?? 'unknown'})`, error);
  }
}

/** Throws the error of a file that cannot be opened. Without a path, which is the operator's. */
async function fail(folder: string, url: URL, error: unknown): Promise<never> {
  const code = codeOf(error) ?? 'unknown';
  // A folder that is away does not mean that its files are deleted.
  if (missing.has(code) && (await isFolder(folder))) throw notFound(url);
  if (refused.has(code)) {
    const text = `The service may not read the source in the folder of ${url.hostname} (${code}).`;
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
