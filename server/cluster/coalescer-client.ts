import { ServiceError } from '../../contract/errors.ts';
import { Cancelled, type Coordination, type Place } from '../../pool/coalescer.ts';
import type { Image } from '../../pool/image.ts';
import type { FlightOrder, FlightOutcome, PrimaryChannel } from './channel.ts';

/** A primary that does not answer within this must not hold a request up: we lead by ourselves. */
const answerWithinMs = 2_000;

interface Ticket {
  readonly key: string;
  readonly settle: { resolve(place: Place): void; reject(error: unknown): void };
  readonly hold: () => (() => void) | null;
  patience: NodeJS.Timeout | null;
  /** Set while followers elsewhere keep our flight in the air. */
  release: (() => void) | null;
  /** Set from landing until the primary has said whether anybody wants it. */
  image: Image | null;
}

/** A front end's part in rendering each key once on the machine (see FlightControl). */
export class PrimaryCoordination implements Coordination {
  readonly #channel: PrimaryChannel;
  readonly #tickets = new Map<number, Ticket>();
  /** How to keep the flight of a key in the air; set once the engine is there. */
  holdFlight: (key: string) => (() => void) | null = () => null;
  /** How to make the background flight of a key a live one; set likewise. */
  promoteFlight: (key: string) => void = () => {};
  #next = 1;

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
  }

  enter(key: string, live: boolean, signal: AbortSignal): Promise<Place> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const number = this.#next++;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#end(number);
        this.#channel.send({ type: 'flight-leave', key, ticket: number });
        reject(signal.reason);
      };
      const settled = () => signal.removeEventListener('abort', leave);
      signal.addEventListener('abort', leave, { once: true });
      this.#tickets.set(number, {
        key,
        settle: {
          resolve: (place) => {
            settled();
            resolve(place);
          },
          reject: (error) => {
            settled();
            reject(error);
          },
        },
        hold: () => this.holdFlight(key),
        patience: setTimeout(() => this.#lead(number), answerWithinMs),
        release: null,
        image: null,
      });
      this.#channel.send({ type: 'flight-enter', key, ticket: number, live });
    });
  }

  receive(order: FlightOrder): void {
    const ticket = this.#tickets.get(order.ticket);
    if (ticket === undefined) {
      // An order to lead that crossed our word on leaving: the flight must not wait for us.
      if (order.type === 'flight-lead') this.#report(order.key, order.ticket, { abandoned: true });
      return;
    }
    switch (order.type) {
      case 'flight-lead':
        return this.#lead(order.ticket);
      case 'flight-follow':
        return this.#stopWaiting(ticket);
      case 'flight-hold':
        ticket.release ??= ticket.hold();
        return;
      case 'flight-release':
        ticket.release?.();
        ticket.release = null;
        return;
      case 'flight-promote':
        return this.promoteFlight(ticket.key);
      case 'flight-landing':
        if (order.wanted && ticket.image !== null) {
          this.#report(ticket.key, order.ticket, { image: ticket.image });
        }
        return this.#end(order.ticket);
      case 'flight-outcome':
        this.#end(order.ticket);
        return this.#arrive(ticket, order.outcome);
    }
  }

  #lead(number: number): void {
    const ticket = this.#tickets.get(number);
    if (ticket === undefined) return;
    this.#stopWaiting(ticket);
    const { key } = ticket;
    ticket.settle.resolve({
      role: 'leader',
      land: (image) => {
        ticket.image = image;
        this.#channel.send({ type: 'flight-landed', key, ticket: number });
      },
      fail: (failure) => {
        this.#end(number);
        // What only says how this process fares must not fail those of another.
        const abandoned = failure instanceof Cancelled || failure.code === 'overloaded';
        this.#report(key, number, abandoned ? { abandoned } : { failure: failure.toData() });
      },
    });
  }

  #arrive(ticket: Ticket, outcome: FlightOutcome): void {
    if ('image' in outcome) ticket.settle.resolve({ role: 'follower', image: outcome.image });
    else if ('failure' in outcome) ticket.settle.reject(ServiceError.fromData(outcome.failure));
  }

  #report(key: string, ticket: number, outcome: FlightOutcome): void {
    this.#channel.send({ type: 'flight-outcome', key, ticket, outcome });
  }

  #stopWaiting(ticket: Ticket): void {
    if (ticket.patience !== null) clearTimeout(ticket.patience);
    ticket.patience = null;
  }

  #end(number: number): void {
    const ticket = this.#tickets.get(number);
    if (ticket === undefined) return;
    this.#tickets.delete(number);
    this.#stopWaiting(ticket);
    ticket.release?.();
  }
}
