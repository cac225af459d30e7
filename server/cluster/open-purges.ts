import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Project, Projects } from '../../store/projects.ts';
import type { PurgeRecords } from '../../store/purge-records.ts';

const everyMs = 10_000;
/** Purges of the last day are remembered. */
const rememberedMs = 24 * 60 * 60 * 1_000;
/** The times of purges are those of other machines, whose clocks may differ. */
const overlapMs = 60_000;
const loadedAtOnce = 100;
/** A purge is in memory for some seconds; a new machine finds those of the last day. */
const pauseMs = 1_000;

export interface OpenPurgesOptions {
  readonly records: Pick<PurgeRecords, 'unfinished'>;
  readonly projects: Pick<Projects, 'findAll'>;
  /** At the start, purges since then are open whoever has noted them: their objects may exist. Unix ms. */
  readonly recent: number;
  /**
   * Called with a project that has open purges.
   * @param from the number of the first one that no machine has worked on; null for none
   */
  readonly onOpen: (project: Project, from: number | null) => void;
  readonly signal: AbortSignal;
}

/**
 * Finds the purges that this machine has not worked on: those of a process that was stopped or killed, and those of
 * projects that no front end knows.
 */
export class OpenPurges {
  readonly #options: OpenPurgesOptions;
  #since = Date.now() - rememberedMs;
  #isFirst = true;

  constructor(options: OpenPurgesOptions) {
    this.#options = options;
  }

  /** Reads now, and again and again until the signal. Never rejects. */
  async start(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      // During an outage of the store, the next read begins where the last one has ended.
      await this.#read().catch(() => {});
      await this.#pause(everyMs);
    }
  }

  async #read(): Promise<void> {
    const { records, projects, recent, onOpen, signal } = this.#options;
    const begunAt = Date.now();
    const open = await records.unfinished(hostname(), new Date(this.#since));
    if (this.#isFirst) {
      // The deletion of objects may have been interrupted after that of files.
      for (const [id, from] of await records.unfinished(null, new Date(recent))) {
        if (!open.has(id)) open.set(id, from);
      }
    }
    const ids = [...open.keys()];
    for (let at = 0; at < ids.length && !signal.aborted; at += loadedAtOnce) {
      if (at > 0) await this.#pause(pauseMs);
      for (const project of await projects.findAll(ids.slice(at, at + loadedAtOnce))) {
        onOpen(project, open.get(project._id) ?? null);
      }
    }
    this.#since = begunAt - overlapMs;
    this.#isFirst = false;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, null, { signal: this.#options.signal }).catch(() => {});
  }
}
