import type { ErrorData } from '../../contract/errors.ts';
import type { Image } from '../../pool/image.ts';

/** How a flight ended for those who followed it from another process. */
export type FlightOutcome =
  | { readonly image: Image }
  | { readonly failure: ErrorData }
  /** The leader gave up for reasons of its own: somebody else has to lead. */
  | { readonly abandoned: true };

/** One front end's figures, as health and metrics sum them over the processes. */
export interface FrontEndFigures {
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
  readonly flights: number;
  readonly exchanges: number;
  /** How long transforms have waited without one finishing, ms. */
  readonly stalledMs: number;
}

/** The whole machine's figures, sent round by the primary once a second. */
export interface Fleet {
  readonly figures: Readonly<Record<number, FrontEndFigures>>;
  readonly diskBytes: number;
  readonly diskMaxBytes: number;
}

/** From a front end to the primary. */
export type ToPrimary =
  | { readonly type: 'ready' }
  /** Cannot serve, and starting it again would not help. */
  | { readonly type: 'hopeless'; readonly reason: string }
  | { readonly type: 'figures'; readonly figures: FrontEndFigures }
  | { readonly type: 'project-changed'; readonly id: string }
  | {
      readonly type: 'disk';
      readonly stored: readonly (readonly [key: string, bytes: number])[];
      readonly used: readonly string[];
      readonly removed: readonly string[];
    }
  | FlightReport;

/**
 * A front end's word on a flight. A ticket names one wish for a key: a front end may already have
 * a new one for a key while its word on giving up the old one is still under way.
 */
export type FlightReport = { readonly key: string; readonly ticket: number } & (
  | /** Wants the image of a key: to lead the flight to it, or to follow. */
  { readonly type: 'flight-enter'; readonly live: boolean }
  /** Does not want it any more. */
  | { readonly type: 'flight-leave' }
  /** The leader has the image; it is sent only when asked for. */
  | { readonly type: 'flight-landed' }
  | { readonly type: 'flight-outcome'; readonly outcome: FlightOutcome }
);

/** The primary's orders and news about a flight, to the holder of a ticket. */
export type FlightOrder = { readonly key: string; readonly ticket: number } & (
  | { readonly type: 'flight-lead' }
  | { readonly type: 'flight-follow' }
  | { readonly type: 'flight-outcome'; readonly outcome: FlightOutcome }
  /** Others follow: do not cancel, even if everybody here has left. */
  | { readonly type: 'flight-hold' }
  | { readonly type: 'flight-release' }
  /** Live requests follow: go on as live work. */
  | { readonly type: 'flight-promote' }
  /** The answer to `flight-landed`: whether others wait for the image. */
  | { readonly type: 'flight-landing'; readonly wanted: boolean }
);

/** From the primary to a front end. */
export type ToFrontEnd =
  /** Answer what is in flight and end; `graceMs` is how long to wait for connections in use. */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'fleet'; readonly fleet: Fleet }
  | { readonly type: 'project-changed'; readonly id: string }
  | FlightOrder;

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
