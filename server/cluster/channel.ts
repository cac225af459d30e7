import type { ErrorData } from '../../contract/errors.ts';
import type { Cached } from '../../pool/cache/file.ts';
import type { Engine } from '../../pool/engine.ts';
import type { Project } from '../../store/projects.ts';
import type { ChosenServer } from '../http/choose-server.ts';
import type { MetricsSnapshot } from '../telemetry/registry.ts';
import type { ProjectCounts } from '../usage/usage-totals.ts';
import type { DiskShortage } from './disk-space.ts';

/** The outcome of a render or a revalidation, for its followers in other processes. */
export type RenderOutcome = { readonly result: Cached } | { readonly error: ErrorData };

/** How a leader's render ended. */
export type LeaderOutcome =
  | RenderOutcome
  /**
   * The leader has an image, but no followers that it knows of, or has no result, and another
   * process might succeed: a follower leads.
   */
  | { readonly left: 'stored' | 'abandoned' };

/** A front end's engine statistics, which health sums and `/metrics` exports. */
export type FrontEndStats = ReturnType<Engine['stats']>;

/** The machine's stats, which the primary sends to every front end once a second. */
export interface MachineStats {
  /** By process id. */
  readonly frontEnds: Readonly<Record<number, FrontEndStats>>;
  readonly diskBytes: number;
  readonly diskMaxBytes: number;
  /** What the disk lacks for more images. */
  readonly diskShortage: DiskShortage | null;
}

/** The known projects, and the time when they were last current (Unix ms). */
export interface KnownProjectsSnapshot {
  readonly confirmedAt: number;
  readonly projects: readonly Project[];
}

/** New information about stored projects from a front end. */
export type ProjectUpdate =
  | { readonly type: 'project-known'; readonly project: Project }
  /** The store does not contain the project, or contains an earlier revision. */
  | { readonly type: 'project-forgotten'; readonly id: string };

export type ToPrimary =
  /** The front end has loaded its modules and waits for `store-opened`. */
  | { readonly type: 'started' }
  /** The front end listens. */
  | { readonly type: 'ready'; readonly httpServer: ChosenServer }
  /** The store has responded after the primary prepared it. */
  | { readonly type: 'store-reached' }
  /** The front end cannot start, and a restart would not help. */
  | { readonly type: 'cannot-start'; readonly reason: string }
  /** Sent every second, and at the end of a drain. */
  | {
      readonly type: 'stats';
      readonly stats: FrontEndStats;
      readonly metrics: MetricsSnapshot;
      /** Requests by project since the last report. */
      readonly projects: ProjectCounts;
      /** When the store last confirmed the known projects, Unix ms, or null. */
      readonly projectsConfirmedAt: number | null;
    }
  | ProjectUpdate
  | {
      readonly type: 'disk-cache-changes';
      readonly stored: readonly (readonly [key: string, bytes: number])[];
      readonly used: readonly string[];
      readonly removed: readonly string[];
    }
  | CoalescerRequest;

/**
 * A front end's message about the render of a key. `joinId` identifies one participation: a front
 * end can join again before the primary receives its `flight-leave`.
 */
export type CoalescerRequest = { readonly key: string; readonly joinId: number } & (
  | /** Requests the image: the front end leads the render, or follows. */
  { readonly type: 'flight-join'; readonly live: boolean }
  /** The front end stops waiting for the image. */
  | { readonly type: 'flight-leave' }
  | { readonly type: 'flight-outcome'; readonly outcome: LeaderOutcome }
);

/** The primary's message to a participant in the render of a key. */
export type CoalescerReply = { readonly key: string; readonly joinId: number } & (
  | { readonly type: 'flight-follow' }
  /**
   * `mayBeStored`: another front end might have stored the image after this front end looked for
   * it.
   */
  | { readonly type: 'flight-lead'; readonly mayBeStored: boolean }
  | { readonly type: 'flight-outcome'; readonly outcome: RenderOutcome }
  /** Other front ends follow: do not cancel the render when all local requests have left. */
  | { readonly type: 'flight-retain' }
  | { readonly type: 'flight-release' }
  /** Live requests follow: continue as live work. */
  | { readonly type: 'flight-promote' }
);

export type ToFrontEnd =
  /**
   * The service will stop: `GET /api/ready` returns 503, and everything else continues until
   * `drain`.
   */
  | { readonly type: 'service-stops' }
  /** Finish the requests in progress and exit; `graceMs`: see `App.drain`. */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'machine-stats'; readonly stats: MachineStats }
  /** The reply to `started`, after the primary has opened the store. */
  | StoreOpened
  /** The store contains its indexes and the root key. */
  | { readonly type: 'store-prepared' }
  /** Another front end has loaded a new revision of a project. */
  | { readonly type: 'project-changed'; readonly id: string }
  | CoalescerReply;

export interface StoreOpened {
  readonly type: 'store-opened';
  /** Contains the credentials. */
  readonly storeUrl: string;
  readonly knownProjects: KnownProjectsSnapshot;
}

export interface PrimaryChannel {
  send(message: ToPrimary): void;
}

/** A front end's channel. A closed channel is not an error: the front end ends with it. */
export interface FrontEndChannel extends PrimaryChannel {
  /** Sends `started`; resolves with the reply, which the receiver gets too. */
  start(): Promise<StoreOpened>;
  /** Calls a function with each message, including earlier messages. */
  receive(receiver: (message: ToFrontEnd) => void): void;
}

/**
 * Interval for repeating `started` until the reply arrives, shorter than the silence after which
 * the primary replaces a process.
 */
const startedEveryMs = 5_000;

export function channelToPrimary(): FrontEndChannel {
  const send = (message: ToPrimary): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  };
  const earlyMessages: ToFrontEnd[] = [];
  let receiver = (message: ToFrontEnd): void => void earlyMessages.push(message);
  return {
    send,
    start: () =>
      new Promise((resolve) => {
        const sendStarted = (): void => send({ type: 'started' });
        const timer = setInterval(sendStarted, startedEveryMs);
        process.on('message', (message: ToFrontEnd) => {
          receiver(message);
          if (message.type !== 'store-opened') return;
          clearInterval(timer);
          resolve(message);
        });
        sendStarted();
      }),
    receive(next) {
      receiver = next;
      for (const message of earlyMessages.splice(0)) next(message);
    },
  };
}
