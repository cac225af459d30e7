import { ServiceError } from '../../contract/errors.ts';
import { Cancelled, type Coalescer, type Participant, type Role } from '../../pool/coalescer.ts';
import type { CoalescerReply, LeaderOutcome, PrimaryChannel, RenderOutcome } from './channel.ts';

/** If the primary does not reply within this time, this process leads. */
const replyWithinMs = 2_000;

/** This process's participation, until every process that needs the outcome has received it. */
interface Join {
  readonly key: string;
  readonly participant: Participant;
  readonly resolve: (role: Role) => void;
  readonly reject: (error: unknown) => void;
  replyTimer: NodeJS.Timeout | null;
  /** Set while followers in other processes retain this process's render. */
  release: (() => void) | null;
  hasFollowers: boolean;
}

/** The machine's single flight: the front end's side of MachineCoalescer. */
export class CoalescerClient implements Coalescer {
  readonly #channel: PrimaryChannel;
  readonly #joins = new Map<number, Join>();
  #nextId = 1;

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
  }

  join(key: string, participant: Participant): Promise<Role> {
    const { live, signal } = participant;
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#end(id);
        this.#channel.send({ type: 'flight-leave', key, joinId: id });
        reject(signal.reason);
      };
      const settle =
        <T>(how: (result: T) => void) =>
        (result: T): void => {
          signal.removeEventListener('abort', leave);
          how(result);
        };
      signal.addEventListener('abort', leave, { once: true });
      this.#joins.set(id, {
        key,
        participant,
        resolve: settle(resolve),
        reject: settle(reject),
        replyTimer: setTimeout(() => this.#lead(id, true), replyWithinMs),
        release: null,
        hasFollowers: false,
      });
      this.#channel.send({ type: 'flight-join', key, joinId: id, live });
    });
  }

  receive(reply: CoalescerReply): void {
    const { key, joinId } = reply;
    const join = this.#joins.get(joinId);
    if (join === undefined) {
      // The primary sent this before it received `flight-leave`: a follower has to lead.
      if (reply.type === 'flight-lead') this.#report(key, joinId, { left: 'abandoned' });
      return;
    }
    switch (reply.type) {
      case 'flight-lead':
        return this.#lead(joinId, reply.mayBeStored);
      case 'flight-follow':
        return this.#clearTimer(join);
      case 'flight-retain':
        join.hasFollowers = true;
        join.release ??= join.participant.retain();
        return;
      case 'flight-release':
        join.hasFollowers = false;
        join.release?.();
        join.release = null;
        return;
      case 'flight-promote':
        return join.participant.promote();
      case 'flight-outcome':
        this.#end(joinId);
        return this.#follow(join, reply.outcome);
    }
  }

  #lead(joinId: number, mayBeStored: boolean): void {
    const join = this.#joins.get(joinId);
    if (join === undefined) return;
    this.#clearTimer(join);
    const { key } = join;
    join.resolve({
      role: 'leader',
      mayBeStored,
      succeed: (result) => {
        this.#end(joinId);
        this.#report(key, joinId, join.hasFollowers ? { result } : { left: 'stored' });
      },
      fail: (error) => {
        this.#end(joinId);
        // A cancelled or overloaded leader must not make its followers fail.
        const isOwn = error instanceof Cancelled || error.code === 'overloaded';
        this.#report(key, joinId, isOwn ? { left: 'abandoned' } : { error: error.toData() });
      },
    });
  }

  #follow({ resolve, reject }: Join, outcome: RenderOutcome): void {
    if ('result' in outcome) resolve({ role: 'follower', result: outcome.result });
    else reject(ServiceError.fromData(outcome.error));
  }

  #report(key: string, joinId: number, outcome: LeaderOutcome): void {
    this.#channel.send({ type: 'flight-outcome', key, joinId, outcome });
  }

  #clearTimer(join: Join): void {
    if (join.replyTimer !== null) clearTimeout(join.replyTimer);
    join.replyTimer = null;
  }

  #end(joinId: number): void {
    const join = this.#joins.get(joinId);
    if (join === undefined) return;
    this.#joins.delete(joinId);
    this.#clearTimer(join);
    join.release?.();
  }
}
