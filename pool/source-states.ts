import type { DiskCache } from './cache/disk.ts';
import type { SharedCache, SharedWait } from './cache/shared-cache.ts';
import type { SourceState } from './freshness.ts';
import { entityTag, type Image } from './image.ts';
import { type ImagePurges, provenanceOf } from './purges.ts';

/** The caches that keep states for other processes and machines, and beyond a restart; null for none. */
export interface StateCaches {
  readonly disk: Pick<DiskCache, 'read' | 'write'> | null;
  readonly shared: Pick<SharedCache, 'read' | 'write' | 'wait'> | null;
}

/**
 * Objects are also written again after this time, before rules of the bucket for old objects delete them, and so
 * that another machine need not ask for bytes that it could have.
 */
const renewedAfterMs = 86_400_000;

/** Keeps the states of sources, in the form of images. */
export class SourceStates {
  readonly #caches: StateCaches;

  constructor(caches: StateCaches) {
    this.#caches = caches;
  }

  /** The state on the disk, else in the shared cache; null for none. */
  async find(
    key: string,
    purges: ImagePurges,
    signal: AbortSignal,
    wait: SharedWait | null,
  ): Promise<SourceState | null> {
    const own = await this.#readDisk(key, purges);
    return own ?? this.#readShared(key, purges, signal, wait);
  }

  /**
   * The latest state on the disk or in the shared cache: another machine may have asked the origin. Its state has
   * the time of the change that the images of that machine have, which are then valid here too.
   */
  async latest(key: string, purges: ImagePurges, signal: AbortSignal): Promise<SourceState | null> {
    const own = await this.#readDisk(key, purges);
    const { shared } = this.#caches;
    const other = shared && (await this.#readShared(key, purges, signal, shared.wait));
    return (own?.checkedAt ?? 0) > (other?.checkedAt ?? 0) ? own : other;
  }

  /** @param before the state that it replaces; null for none */
  async keep(
    key: string,
    state: SourceState,
    before: SourceState | null,
    purges: ImagePurges,
  ): Promise<void> {
    const { disk, shared } = this.#caches;
    const file = fileOf(state);
    if (shared !== null && differs(state, before)) shared.write(key, file, purges);
    await disk?.write(key, file, provenanceOf(purges));
  }

  async #readDisk(key: string, purges: ImagePurges): Promise<SourceState | null> {
    const file = (await this.#caches.disk?.read(key, purges)) ?? null;
    return file === null ? null : decodeState(file);
  }

  async #readShared(
    key: string,
    purges: ImagePurges,
    signal: AbortSignal,
    wait: SharedWait | null,
  ): Promise<SourceState | null> {
    const { shared } = this.#caches;
    if (shared === null) return null;
    const file = await shared.read(key, purges, signal, wait ?? shared.wait);
    return file === null ? null : decodeState(file);
  }
}

/** Whether more than the time of the last check has changed: each write to the shared cache costs. */
function differs(state: SourceState, before: SourceState | null): boolean {
  if (before === null) return true;
  const day = ({ checkedAt }: SourceState) => Math.floor(checkedAt / renewedAfterMs);
  const { changedAt, digest, etag, lastModified, origin } = before;
  return (
    state.changedAt !== changedAt ||
    state.digest !== digest ||
    state.etag !== etag ||
    state.lastModified !== lastModified ||
    JSON.stringify(state.origin) !== JSON.stringify(origin) ||
    day(state) !== day(before)
  );
}

/** A state as a file of the disk cache. */
export function fileOf(state: SourceState): Image {
  const body = Buffer.from(JSON.stringify(state));
  const contentType = 'application/json';
  return {
    body,
    contentType,
    etag: entityTag(body),
    width: 0,
    height: 0,
    fetchedAt: { source: state.checkedAt, watermark: 0 },
  };
}

/** Null for another file. */
export function decodeState({ body, contentType }: Image): SourceState | null {
  // The digests of the file prove that this service has written it.
  return contentType === 'application/json' ? JSON.parse(Buffer.from(body).toString()) : null;
}
