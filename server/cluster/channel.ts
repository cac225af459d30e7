import type { ErrorData } from '../../contract/errors.ts';
import type { Engine } from '../../pool/engine.ts';
import type { Image } from '../../pool/image.ts';
import type { Project } from '../../store/projects.ts';
import type { ChosenServer } from '../http/choose-server.ts';
import type { ProjectCounts } from '../telemetry/busiest-projects.ts';
import type { MetricsSnapshot } from '../telemetry/registry.ts';

/** How a render ended, for its followers in other processes. */
export type RenderOutcome =
  | { readonly image: Image }
  | { readonly error: ErrorData }
  /** The leader stopped for a reason that does not concern the followers: one of them has to lead. */
  | { readonly abandoned: true };

/** The figures of one front end's image engine, which health sums and `/metrics` exports. */
export type FrontEndStats = ReturnType<Engine['stats']>;

/** The stats of the whole machine, sent to every front end by the primary once a second. */
export interface MachineStats {
  /** By process id. */
  readonly frontEnds: Readonly<Record<number, FrontEndStats>>;
  readonly diskBytes: number;
  readonly diskMaxBytes: number;
  /** The disk has too little space to keep images on it. */
  readonly diskFull: boolean;
}

/** Projects, and until when they are known to be current (Unix ms). */
export interface Knowledge {
  readonly confirmedAt: number;
  readonly projects: readonly Project[];
}

/** What a front end has learned from the store about projects. */
export type ProjectNews =
  | { readonly type: 'project-known'; readonly project: Project }
  /** It is gone, or the front end follows its changes no more. */
  | { readonly type: 'project-forgotten'; readonly id: string }
  /** All projects that the front end knows were current at this time, Unix ms. */
  | { readonly type: 'projects-confirmed'; readonly at: number };

/** From a front end to the primary. */
export type ToPrimary =
  /** Has loaded its modules, and waits for `welcome`. */
  | { readonly type: 'started' }
  /** Listens. */
  | { readonly type: 'ready'; readonly httpServer: ChosenServer }
  /** Has an answer of the store, after the primary has prepared it. */
  | { readonly type: 'store-reached' }
  /** A restart of the front end would not help. */
  | { readonly type: 'cannot-start'; readonly reason: string }
  | FrontEndReport
  | ProjectNews
  /** A file is about to be written, as `written` of the changes will say again. */
  | { readonly type: 'disk-cache-write'; readonly name: string; readonly key: string }
  | {
      readonly type: 'disk-cache-changes';
      readonly written: readonly string[];
      readonly stored: readonly (readonly [key: string, bytes: number])[];
      readonly used: readonly string[];
      readonly removed: readonly string[];
    }
  | CoalescerRequest;

/**
 * A front end's message about the render of a key. `joinId` identifies one participation: a front end
 * may join for a key again before the primary has received that it left.
 */
export type CoalescerRequest = { readonly key: string; readonly joinId: number } & (
  | /** Requests the image of a key: the front end leads its render, or follows. */
  { readonly type: 'render-join'; readonly live: boolean }
  /** Does not need the image any more. */
  | { readonly type: 'render-leave' }
  /** The leader has the image; it sends it only when the primary says that followers want it. */
  | { readonly type: 'render-succeeded' }
  | { readonly type: 'render-outcome'; readonly outcome: RenderOutcome }
);

/** The primary's message to one participant of the render of a key. */
export type CoalescerReply = { readonly key: string; readonly joinId: number } & (
  | { readonly type: 'render-follow' }
  /** `mayBeStored`: another front end may have stored the image after this one has looked for it. */
  | { readonly type: 'render-lead'; readonly mayBeStored: boolean }
  | { readonly type: 'render-outcome'; readonly outcome: RenderOutcome }
  /** Other front ends follow: do not cancel, even when all requests of the leading process have left. */
  | { readonly type: 'render-retain' }
  | { readonly type: 'render-release' }
  /** Live requests follow: continue as live work. */
  | { readonly type: 'render-promote' }
  /** The reply to `render-succeeded`: whether followers wait for the image. */
  | { readonly type: 'render-acknowledged'; readonly wanted: boolean }
);

/** Sent every second, and before the end of a front end. */
export interface FrontEndReport {
  readonly type: 'stats';
  readonly stats: FrontEndStats;
  readonly metrics: MetricsSnapshot;
  /** Requests by project since the last report. */
  readonly projects: ProjectCounts;
}

/** From the primary to a front end. */
export type ToFrontEnd =
  /** Finish the requests in progress and exit; `graceMs` is how long to wait for connections in use. */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'machine-stats'; readonly stats: MachineStats }
  /** The answer to `started`, when the primary has opened the store. */
  | Welcome
  /** The store has its indexes and the root key. */
  | { readonly type: 'store-prepared' }
  | { readonly type: 'project-known'; readonly project: Project }
  | CoalescerReply;

export interface Welcome {
  readonly type: 'welcome';
  /** Contains the credentials. */
  readonly storeUrl: string;
  readonly storePrepared: boolean;
  readonly knowledge: Knowledge;
}

/** The front end's end of the channel to the primary. */
export interface PrimaryChannel {
  send(message: ToPrimary): void;
}

/** The channel of a forked front end. A closed channel is no error: the front end then ends too. */
export interface FrontEndChannel extends PrimaryChannel {
  /** Says that this process has started; resolves with the answer, which `receive` gets too. */
  start(): Promise<Welcome>;
  /** Calls a function with each message, those from before this call included. */
  receive(receiver: (message: ToFrontEnd) => void): void;
}

/** The primary replaces a process that says nothing for longer. */
const startedEveryMs = 5_000;

export function channelToPrimary(): FrontEndChannel {
  const send = (message: ToPrimary): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  };
  const early: ToFrontEnd[] = [];
  let receiver = (message: ToFrontEnd): void => void early.push(message);
  return {
    send,
    start: () =>
      new Promise((welcomed) => {
        const started = (): void => send({ type: 'started' });
        const repeating = setInterval(started, startedEveryMs);
        process.on('message', (message: ToFrontEnd) => {
          receiver(message);
          if (message.type !== 'welcome') return;
          clearInterval(repeating);
          welcomed(message);
        });
        started();
      }),
    receive(next) {
      receiver = next;
      for (const message of early.splice(0)) next(message);
    },
  };
}
