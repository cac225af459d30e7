import { LRUCache } from 'lru-cache';
import type { CoalescerReply, CoalescerRequest, LeaderOutcome } from './channel.ts';

/** A front end's participation in a key's flight. */
interface Member {
  readonly frontEnd: number;
  readonly joinId: number;
  /** False for background work. Only `flight-join` carries it. */
  live: boolean;
}

/** Work in progress on the machine: a render, or a revalidation with an origin. */
interface Flight {
  leader: Member;
  /** In joining order. */
  followers: Member[];
}

/** Far more than complete while a message to the primary is on its way. */
const maxStored = 10_000;

/** A reply, except its address. (Omit alone does not distribute over the union.) */
type Reply = CoalescerReply extends infer R
  ? R extends unknown
    ? Omit<R, 'key' | 'joinId'>
    : never
  : never;

const same = (a: Member, b: Member): boolean => a.frontEnd === b.frontEnd && a.joinId === b.joinId;

/**
 * The machine's single flight for renders and revalidations: the first front end that joins leads,
 * and the others follow. When the leader ends or abandons the flight, the next follower leads, also
 * if it joined while the leader stored the image: it then finds the image in the disk cache.
 */
export class MachineCoalescer {
  readonly #flights = new Map<string, Flight>();
  /** Recently stored keys: a front end might have checked the disk just before. */
  readonly #stored = new LRUCache<string, true>({ max: maxStored });
  readonly #send: (frontEnd: number, reply: CoalescerReply) => void;

  constructor(send: (frontEnd: number, reply: CoalescerReply) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#flights.size;
  }

  receive(frontEnd: number, request: CoalescerRequest): void {
    const { key, joinId } = request;
    const member = { frontEnd, joinId, live: request.type === 'flight-join' && request.live };
    switch (request.type) {
      case 'flight-join':
        return this.#join(member, key);
      case 'flight-leave':
        return this.#leave(member, key);
      case 'flight-outcome':
        return this.#settle(member, key, request.outcome);
    }
  }

  /**
   * Hands an ended front end's flights to followers, and removes it from flights that it followed.
   * Call it after the front end's last message.
   */
  forget(frontEnd: number): void {
    for (const [key, flight] of this.#flights) {
      for (const member of flight.followers.filter((follower) => follower.frontEnd === frontEnd)) {
        this.#leave(member, key);
      }
      if (flight.leader.frontEnd === frontEnd) this.#replaceLeader(key, flight);
    }
  }

  #join(member: Member, key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) {
      this.#flights.set(key, { leader: member, followers: [] });
      this.#reply(member, key, { type: 'flight-lead', mayBeStored: this.#stored.has(key) });
      return;
    }
    flight.followers.push(member);
    this.#reply(member, key, { type: 'flight-follow' });
    if (flight.followers.length === 1) this.#reply(flight.leader, key, { type: 'flight-retain' });
    this.#promote(key, flight);
  }

  /** Makes background work live when live requests follow its leader. */
  #promote(key: string, { leader, followers }: Flight): void {
    if (leader.live || !followers.some(({ live }) => live)) return;
    leader.live = true;
    this.#reply(leader, key, { type: 'flight-promote' });
  }

  #leave(member: Member, key: string): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    const staying = flight.followers.filter((follower) => !same(follower, member));
    if (staying.length === flight.followers.length) return;
    flight.followers = staying;
    if (staying.length === 0) this.#reply(flight.leader, key, { type: 'flight-release' });
  }

  #settle(member: Member, key: string, outcome: LeaderOutcome): void {
    const flight = this.#flights.get(key);
    // A follower that got no reply in time did the work itself, so it stops waiting.
    if (flight === undefined || !same(flight.leader, member)) return this.#leave(member, key);
    const isStored = 'result' in outcome || ('left' in outcome && outcome.left === 'stored');
    if (isStored) this.#stored.set(key, true);
    if ('left' in outcome) return this.#replaceLeader(key, flight);
    this.#flights.delete(key);
    for (const follower of flight.followers) {
      this.#reply(follower, key, { type: 'flight-outcome', outcome });
    }
  }

  #replaceLeader(key: string, flight: Flight): void {
    const next = flight.followers.shift();
    if (next === undefined) {
      this.#flights.delete(key);
      return;
    }
    flight.leader = next;
    this.#reply(next, key, { type: 'flight-lead', mayBeStored: true });
    if (flight.followers.length > 0) this.#reply(next, key, { type: 'flight-retain' });
    this.#promote(key, flight);
  }

  #reply(member: Member, key: string, reply: Reply): void {
    this.#send(member.frontEnd, { ...reply, key, joinId: member.joinId } as CoalescerReply);
  }
}
