import { LRUCache } from 'lru-cache';
import type { CoalescerReply, CoalescerRequest, RenderOutcome } from './channel.ts';

/** A front end's participation in the render of a key. */
interface Member {
  readonly frontEnd: number;
  readonly joinId: number;
  /** False for background work. Only `render-join` carries it; in other messages it is not used. */
  live: boolean;
}

/** A render in progress on the machine. */
interface Render {
  leader: Member;
  /** In the order in which they joined. */
  followers: Member[];
}

/** As many as are rendered in the time that a message to the primary may take, and many more. */
const mostStored = 10_000;

/** A reply before it is addressed; Omit alone would not distribute over the union. */
type Reply = CoalescerReply extends infer R
  ? R extends unknown
    ? Omit<R, 'key' | 'joinId'>
    : never
  : never;

const same = (a: Member, b: Member): boolean => a.frontEnd === b.frontEnd && a.joinId === b.joinId;

/**
 * The primary's side of rendering each key once on the machine: the first front end that joins leads,
 * the others follow, and when the leader ends or abandons the render the next follower leads. A render
 * that succeeded stays registered until its image was passed to the followers, so that no front end
 * starts a second render before it can find the image in a cache.
 */
export class RenderCoalescer {
  readonly #renders = new Map<string, Render>();
  /** A front end may have looked for one of these on the disk just before it was stored. */
  readonly #stored = new LRUCache<string, true>({ max: mostStored });
  readonly #send: (frontEnd: number, reply: CoalescerReply) => void;
  /** Front ends that have ended. Their late messages are ignored: followers would wait for ever. */
  readonly #ended = new Set<number>();

  constructor(send: (frontEnd: number, reply: CoalescerReply) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#renders.size;
  }

  receive(frontEnd: number, request: CoalescerRequest): void {
    if (this.#ended.has(frontEnd)) return;
    const { key, joinId } = request;
    const member = { frontEnd, joinId, live: request.type === 'render-join' && request.live };
    switch (request.type) {
      case 'render-join':
        return this.#join(member, key);
      case 'render-leave':
        return this.#leave(member, key);
      case 'render-succeeded':
        return this.#succeeded(member, key);
      case 'render-outcome':
        return this.#settle(member, key, request.outcome);
    }
  }

  /** A front end has ended: followers lead its renders, and it leaves those that it followed. */
  forget(frontEnd: number): void {
    this.#ended.add(frontEnd);
    for (const [key, render] of this.#renders) {
      for (const member of render.followers.filter((one) => one.frontEnd === frontEnd)) {
        this.#leave(member, key);
      }
      if (render.leader.frontEnd === frontEnd) this.#replaceLeader(key, render);
    }
  }

  #join(member: Member, key: string): void {
    const render = this.#renders.get(key);
    if (render === undefined) {
      this.#renders.set(key, { leader: member, followers: [] });
      this.#reply(member, key, { type: 'render-lead', mayBeStored: this.#stored.has(key) });
      return;
    }
    render.followers.push(member);
    this.#reply(member, key, { type: 'render-follow' });
    if (render.followers.length === 1) this.#reply(render.leader, key, { type: 'render-retain' });
    this.#promote(key, render);
  }

  /** A leader of background work that live requests follow becomes live. */
  #promote(key: string, { leader, followers }: Render): void {
    if (leader.live || !followers.some(({ live }) => live)) return;
    leader.live = true;
    this.#reply(leader, key, { type: 'render-promote' });
  }

  #leave(member: Member, key: string): void {
    const render = this.#renders.get(key);
    if (render === undefined) return;
    const staying = render.followers.filter((one) => !same(one, member));
    if (staying.length === render.followers.length) return;
    render.followers = staying;
    if (staying.length === 0) this.#reply(render.leader, key, { type: 'render-release' });
  }

  #succeeded(member: Member, key: string): void {
    const render = this.#renders.get(key);
    const leads = render !== undefined && same(render.leader, member);
    const wanted = leads && render.followers.length > 0;
    if (leads) this.#stored.set(key, true);
    if (leads && !wanted) this.#renders.delete(key);
    // A follower that waited too long for a reply, and led without permission, leaves.
    if (!leads) this.#leave(member, key);
    this.#reply(member, key, { type: 'render-acknowledged', wanted });
  }

  #settle(member: Member, key: string, outcome: RenderOutcome): void {
    const render = this.#renders.get(key);
    if (render === undefined || !same(render.leader, member)) return this.#leave(member, key);
    if ('abandoned' in outcome) return this.#replaceLeader(key, render);
    this.#renders.delete(key);
    for (const follower of render.followers) {
      this.#reply(follower, key, { type: 'render-outcome', outcome });
    }
  }

  #replaceLeader(key: string, render: Render): void {
    const next = render.followers.shift();
    if (next === undefined) {
      this.#renders.delete(key);
      return;
    }
    render.leader = next;
    this.#reply(next, key, { type: 'render-lead', mayBeStored: true });
    if (render.followers.length > 0) this.#reply(next, key, { type: 'render-retain' });
    this.#promote(key, render);
  }

  #reply(member: Member, key: string, reply: Reply): void {
    this.#send(member.frontEnd, { ...reply, key, joinId: member.joinId } as CoalescerReply);
  }
}
