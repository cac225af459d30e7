import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Project, Projects } from '../../store/projects.ts';
import type { PurgeRecords } from '../../store/purge-records.ts';
import { readRepeatedly } from './repeated-read.ts';

const everyMs = 10_000;
const overlapMs = 60_000;
const loadedAtOnce = 100;
/** A purge is in memory for some seconds; a new machine finds those of the last day. */
const pauseMs = 1_000;

interface OpenPurgesOptions {
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
 * Finds the purges that this machine has not worked on, until the signal: those of a process that was stopped or
 * killed, and those of projects that no front end knows. Never rejects.
 */
export function findOpenPurges(options: OpenPurgesOptions): Promise<void> {
  const { records, projects, recent, onOpen, signal } = options;
  let isFirst = true;
  return readRepeatedly({
    everyMs,
    overlapMs,
    signal,
    read: async (since) => {
      const open = await records.unfinished(hostname(), since);
      if (isFirst) {
        // The deletion of objects may have been interrupted after that of files.
        for (const [id, from] of await records.unfinished(null, new Date(recent))) {
          if (!open.has(id)) open.set(id, from);
        }
      }
      const ids = [...open.keys()];
      for (let at = 0; at < ids.length && !signal.aborted; at += loadedAtOnce) {
        if (at > 0) await sleep(pauseMs, null, { signal }).catch(() => {});
        for (const project of await projects.findAll(ids.slice(at, at + loadedAtOnce))) {
          onOpen(project, open.get(project._id) ?? null);
        }
      }
      isFirst = false;
    },
    onError: () => {},
  });
}
