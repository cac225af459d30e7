import type { DiskCache } from './cache/disk.ts';
import type { SharedCache, SharedWait } from './cache/shared-cache.ts';
import type { SourceState } from './freshness.ts';
import { entityTag, type Image } from './image.ts';

/**
 * The caches that keep states for other processes and machines, and across restarts; null if not
 * configured.
 */
export interface StateCaches {
  readonly disk: Pick<DiskCache, 'read' | 'write'> | null;
  readonly shared: Pick<SharedCache, 'read' | 'write' | 'wait'> | null;
}

/**
 * Age of an unchanged state when it is written to the shared cache again: before the bucket's
 * lifecycle rules delete it, and so that other machines do not fetch the source again.
 */
const renewedAfterMs = 86_400_000;

/** Reads and writes the states of sources, which the caches store as they store images. */
export class SourceStates {
  readonly #caches: StateCaches;

  constructor(caches: StateCaches) {
    this.#caches = caches;
  }

  /** Returns the state on disk, or else in the shared cache; null if both lack it. */
  async find(
    key: string,
    project: string,
    signal: AbortSignal,
    wait: SharedWait | null,
  ): Promise<SourceState | null> {
    const onDisk = await this.#readDisk(key);
    return onDisk ?? this.#readShared(key, project, signal, wait);
  }

  /**
   * Returns the later state of disk and shared cache, because another machine can have revalidated
   * the source. Images that it rendered after the last change are then valid on this machine too.
   */
  async latest(key: string, project: string, signal: AbortSignal): Promise<SourceState | null> {
    const onDisk = await this.#readDisk(key);
    const { shared } = this.#caches;
    const inShared = shared && (await this.#readShared(key, project, signal, shared.wait));
    return (onDisk?.checkedAt ?? 0) > (inShared?.checkedAt ?? 0) ? onDisk : inShared;
  }

  /** Stores a state. @param before the replaced state, or null */
  async keep(
    key: string,
    state: SourceState,
    before: SourceState | null,
    project: string,
  ): Promise<void> {
    const { disk, shared } = this.#caches;
    const file = encodeState(state);
    if (shared !== null && differs(state, before)) shared.write(key, project, file);
    await disk?.write(key, file);
  }

  async #readDisk(key: string): Promise<SourceState | null> {
    return stateIn(await this.#caches.disk?.read(key));
  }

  async #readShared(
    key: string,
    project: string,
    signal: AbortSignal,
    wait: SharedWait | null,
  ): Promise<SourceState | null> {
    const { shared } = this.#caches;
    if (shared === null) return null;
    return stateIn(await shared.read(key, project, signal, wait ?? shared.wait));
  }
}

/**
 * Returns whether more than the check time has changed, because each write to the shared cache
 * costs money.
 */
function differs(state: SourceState, before: SourceState | null): boolean {
  if (before === null) return true;
  const day = ({ checkedAt }: SourceState) => Math.floor(checkedAt / renewedAfterMs);
  const { changedAt, digest, resource, etag, lastModified, origin } = before;
  return (
    state.changedAt !== changedAt ||
    state.digest !== digest ||
    state.resource !== resource ||
    state.etag !== etag ||
    state.lastModified !== lastModified ||
    JSON.stringify(state.origin) !== JSON.stringify(origin) ||
    day(state) !== day(before)
  );
}

/** Encodes a state as an image, as the caches store it. */
export function encodeState(state: SourceState): Image {
  const body = Buffer.from(JSON.stringify(state));
  const contentType = 'application/json';
  return {
    body,
    contentType,
    etag: entityTag(body),
    width: 0,
    height: 0,
    fetchedAt: [state.checkedAt],
  };
}

const stateIn = (stored: Image | null | undefined): SourceState | null =>
  stored == null ? null : decodeState(stored);

/** Returns null for a file that is not a state. */
export function decodeState({ body, contentType }: Image): SourceState | null {
  // The cache has verified the file's digests, so the JSON is complete.
  return contentType === 'application/json' ? JSON.parse(Buffer.from(body).toString()) : null;
}
