import type { ErrorData } from '../../contract/errors.ts';
import type { Image } from '../../pool/image.ts';

/** How a render ended for those who followed it from another process. */
export type RenderOutcome =
  | { readonly image: Image }
  | { readonly error: ErrorData }
  /** The leader gave up for reasons of its own: somebody else has to lead. */
  | { readonly abandoned: true };

/** One front end's stats, as health and metrics sum them over the processes. */
export interface FrontEndStats {
  readonly memoryBytes: number;
  readonly memoryMaxBytes: number;
  readonly active: number;
  readonly queued: number;
  readonly concurrency: number;
  readonly maxQueue: number;
  readonly rejected: number;
  /** Transforms that ended, in whatever way, since the process began. */
  readonly completed: number;
  readonly fetching: number;
  /** Misses in progress, each with all requests that wait for it. */
  readonly misses: number;
  /** How long transforms have waited without one finishing, ms. */
  readonly stalledMs: number;
}

/** The stats of the whole machine, sent to every front end by the primary once a second. */
export interface MachineStats {
  /** By process id. */
  readonly frontEnds: Readonly<Record<number, FrontEndStats>>;
  readonly diskBytes: number;
  readonly diskMaxBytes: number;
}

/** From a front end to the primary. */
export type ToPrimary =
  | { readonly type: 'ready' }
  /** Starting it again would not help. */
  | { readonly type: 'cannot-start'; readonly reason: string }
  | { readonly type: 'stats'; readonly stats: FrontEndStats }
  | { readonly type: 'project-changed'; readonly id: string }
  | {
      readonly type: 'disk-cache-changes';
      readonly stored: readonly (readonly [key: string, bytes: number])[];
      readonly used: readonly string[];
      readonly removed: readonly string[];
    }
  | CoalescerRequest;

/**
 * A front end's message about the render of a key. `joinId` names one participation: a front end may
 * join for a key again before the primary has heard that it left.
 */
export type CoalescerRequest = { readonly key: string; readonly joinId: number } & (
  | /** Wants the image of a key: to lead its render, or to follow. */
  { readonly type: 'render-join'; readonly live: boolean }
  /** Does not want it any more. */
  | { readonly type: 'render-leave' }
  /** The leader has the image; it is sent only when asked for. */
  | { readonly type: 'render-succeeded' }
  | { readonly type: 'render-outcome'; readonly outcome: RenderOutcome }
);

/** The primary's message to one participant of the render of a key. */
export type CoalescerReply = { readonly key: string; readonly joinId: number } & (
  | { readonly type: 'render-lead' }
  | { readonly type: 'render-follow' }
  | { readonly type: 'render-outcome'; readonly outcome: RenderOutcome }
  /** Others follow: do not cancel, even when all requests of the leading process have left. */
  | { readonly type: 'render-retain' }
  | { readonly type: 'render-release' }
  /** Live requests follow: go on as live work. */
  | { readonly type: 'render-promote' }
  /** The reply to `render-succeeded`: whether followers wait for the image. */
  | { readonly type: 'render-acknowledged'; readonly wanted: boolean }
);

/** From the primary to a front end. */
export type ToFrontEnd =
  /** Answer the requests in progress and end; `graceMs` is how long to wait for connections in use. */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'machine-stats'; readonly stats: MachineStats }
  | { readonly type: 'project-changed'; readonly id: string }
  | CoalescerReply;

type Handlers<M extends { type: string }> = {
  readonly [T in M['type']]: (message: Extract<M, { type: T }>) => void;
};

/** A typed table of handlers, one for each message type, as a function of any message. */
export function dispatcher<M extends { type: string }>(
  handlers: Handlers<M>,
): (message: M) => void {
  return (message) => handlers[message.type as M['type']](message as never);
}

/** The front end's end of the channel to the primary. */
export interface PrimaryChannel {
  send(message: ToPrimary): void;
}

/** The channel of a forked front end. A primary that went away is no error: we are ending too. */
export function channelToPrimary(): PrimaryChannel {
  return {
    send(message) {
      if (process.connected) process.send?.(message, undefined, undefined, () => {});
    },
  };
}

/** The environment variable by which a front end is told where the store is. */
export const storeUrlVariable = 'IMAGE_DELIVERY_STORE_URL';
