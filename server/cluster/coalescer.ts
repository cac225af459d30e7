import type { FlightOrder, FlightOutcome, FlightReport } from './channel.ts';

/** One front end's wish for a key. */
interface Seat {
  readonly frontEnd: number;
  readonly ticket: number;
  /** False for background work; only what `flight-enter` said counts. */
  live: boolean;
}

interface MachineFlight {
  leader: Seat;
  /** In the order in which they came. */
  followers: Seat[];
}

/** An order before it is addressed; Omit alone would not distribute over the union. */
type Order = FlightOrder extends infer O
  ? O extends unknown
    ? Omit<O, 'key' | 'ticket'>
    : never
  : never;

const same = (a: Seat, b: Seat): boolean => a.frontEnd === b.frontEnd && a.ticket === b.ticket;

/**
 * The primary's part in rendering each key once on the machine: it lets the first front end that
 * asks lead and the others follow, and finds a new leader when one dies or gives up. A landed
 * flight stays until the image was handed on, so nobody falls between the flight and the caches.
 */
export class FlightControl {
  readonly #flights = new Map<string, MachineFlight>();
  readonly #send: (frontEnd: number, order: FlightOrder) => void;
  /** Front ends that have ended. Should words of theirs arrive after, nobody must wait for them. */
  readonly #gone = new Set<number>();

  constructor(send: (frontEnd: number, order: FlightOrder) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#flights.size;
  }

  receive(frontEnd: number, report: FlightReport): void {
    if (this.#gone.has(frontEnd)) return;
    const { key, ticket } = report;
    const seat = { frontEnd, ticket, live: report.type === 'flight-enter' && report.live };
    switch (report.type) {
      case 'flight-enter':
        return this.#enter(seat, key);
      case 'flight-leave':
        return this.#leave(seat, key);
      case 'flight-landed':
        return this.#landed(seat, key);
      case 'flight-outcome':
        return this.#settle(seat, key, report.outcome);
    }
  }

  /** A front end has ended: what it led passes on, what it followed goes on without it. */
  forget(frontEnd: number): void {
    this.#gone.add(frontEnd);
    for (const [key, flight] of this.#flights) {
      for (const seat of flight.followers.filter((one) => one.frontEnd === frontEnd)) {
        this.#leave(seat, key);
      }
      if (flight.leader.frontEnd === frontEnd) this.#passOn(key, flight);
    }
  }

  #enter(seat: Seat, key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) {
      this.#flights.set(key, { leader: seat, followers: [] });
      this.#order(seat, key, { type: 'flight-lead' });
      return;
    }
    flight.followers.push(seat);
    this.#order(seat, key, { type: 'flight-follow' });
    if (flight.followers.length === 1) this.#order(flight.leader, key, { type: 'flight-hold' });
    this.#promote(key, flight);
  }

  /** A background leader that live requests follow leads for them. */
  #promote(key: string, { leader, followers }: MachineFlight): void {
    if (leader.live || !followers.some(({ live }) => live)) return;
    leader.live = true;
    this.#order(leader, key, { type: 'flight-promote' });
  }

  #leave(seat: Seat, key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    const staying = flight.followers.filter((one) => !same(one, seat));
    if (staying.length === flight.followers.length) return;
    flight.followers = staying;
    if (staying.length === 0) this.#order(flight.leader, key, { type: 'flight-release' });
  }

  #landed(seat: Seat, key: string): void {
    const flight = this.#flights.get(key);
    const leads = flight !== undefined && same(flight.leader, seat);
    const wanted = leads && flight.followers.length > 0;
    if (leads && !wanted) this.#flights.delete(key);
    // One that lost patience and led by itself follows no more.
    if (!leads) this.#leave(seat, key);
    this.#order(seat, key, { type: 'flight-landing', wanted });
  }

  #settle(seat: Seat, key: string, outcome: FlightOutcome): void {
    const flight = this.#flights.get(key);
    if (flight === undefined || !same(flight.leader, seat)) return this.#leave(seat, key);
    if ('abandoned' in outcome) return this.#passOn(key, flight);
    this.#flights.delete(key);
    for (const follower of flight.followers) {
      this.#order(follower, key, { type: 'flight-outcome', outcome });
    }
  }

  #passOn(key: string, flight: MachineFlight): void {
    const next = flight.followers.shift();
    if (next === undefined) {
      this.#flights.delete(key);
      return;
    }
    flight.leader = next;
    this.#order(next, key, { type: 'flight-lead' });
    if (flight.followers.length > 0) this.#order(next, key, { type: 'flight-hold' });
    this.#promote(key, flight);
  }

  #order(seat: Seat, key: string, order: Order): void {
    this.#send(seat.frontEnd, { ...order, key, ticket: seat.ticket } as FlightOrder);
  }
}
