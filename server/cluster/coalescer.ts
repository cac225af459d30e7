import { LRUCache } from 'lru-cache';
import type { CoalescerReply, CoalescerRequest, RenderOutcome } from './channel.ts';

/** A front end's participation in the render of a key. */
interface Member {
  readonly frontEnd: number;
  readonly joinId: number;
  /** False for background work. Only `render-join` carries it. */
  live: boolean;
}

/** A render in progress on the machine. */
interface Render {
  leader: Member;
  /** In the order in which they joined. */
  followers: Member[];
}

/** Far more than are rendered while a message to the primary is on its way. */
const maxStored = 10_000;

/** A reply without its address. (Omit alone does not distribute over the union.) */
type Reply = CoalescerReply extends infer R
  ? R extends unknown
    ? Omit<R, 'key' | 'joinId'>
    : never
  : never;

const same = (a: Member, b: Member): boolean => a.frontEnd === b.frontEnd && a.joinId === b.joinId;

/**
 * Lets the machine render each key once: the first front end that joins leads, the others follow, and the
 * next follower leads when the leader ends or abandons the render. A successful render stays registered
 * until the followers have its image; otherwise a front end could start a second render before it finds
 * the image in a cache.
 */
export class RenderCoalescer {
  readonly #renders = new Map<string, Render>();
  /** Recently stored keys: a front end may have looked for one on the disk just before. */
  readonly #stored = new LRUCache<string, true>({ max: maxStored });
  readonly #send: (frontEnd: number, reply: CoalescerReply) => void;
  /** Ended front ends. Their late messages are ignored: followers of theirs would wait forever. */
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

  /** Followers lead the renders of an ended front end, and it leaves those that it followed. */
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

  /** Makes the leader of background work live when live requests follow. */
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
    // This follower got no reply in time and rendered itself, so it does not wait any more.
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
