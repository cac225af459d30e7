import { ServiceError } from '../../../contract/errors.ts';
import { Cancelled } from '../../../pool/coalescer.ts';
import type { Image } from '../../../pool/image.ts';
import { SingleFlight } from '../../../pool/single-flight.ts';
import type {
  CoalescerReply,
  CoalescerRequest,
  ToPrimary,
} from '../../../server/cluster/channel.ts';
import { MachineCoalescer } from '../../../server/cluster/coalescer.ts';
import { CoalescerClient } from '../../../server/cluster/coalescer-client.ts';

export const createImage = (key: string): Image => ({
  body: Buffer.from(key),
  contentType: 'image/png',
  etag: `"${key}"`,
  fetchedAt: [1],
  width: 1,
  height: 1,
});

/** Waits for the effects of past events. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A render in progress, which the test ends. */
export interface Rendering {
  readonly key: string;
  readonly frontEnd: number;
  finish(failure?: ServiceError): void;
}

/** A front end that uses the coalescer like the engine, within a separate single flight. */
export class FrontEnd {
  readonly id: number;
  readonly coalescer: CoalescerClient;
  readonly misses = new SingleFlight<string, Image>();
  /** Undelivered messages. */
  readonly toPrimary: ToPrimary[] = [];
  readonly fromPrimary: CoalescerReply[] = [];
  /** Renders that write their image to the disk. */
  readonly writes: (() => void)[] = [];
  readonly renderings: Rendering[] = [];
  /** One entry per render that this front end led. */
  readonly mayBeStored: boolean[] = [];
  dead = false;

  constructor(id: number) {
    this.id = id;
    this.coalescer = new CoalescerClient({
      // A dead process sends no messages, and processes exchange only data.
      send: (message) => this.dead || this.toPrimary.push(structuredClone(message)),
    });
  }

  get(key: string, signal?: AbortSignal): Promise<Image> {
    return this.misses.run(key, (work) => this.#work(key, work), signal);
  }

  async #work(key: string, signal: AbortSignal): Promise<Image> {
    const role = await this.coalescer.join(key, {
      live: true,
      signal,
      retain: () => this.misses.retain(key),
      promote: () => {},
    });
    if (role.role === 'follower') return role.result as Image;
    this.mayBeStored.push(role.mayBeStored);
    try {
      await this.#render(key, signal);
    } catch (error) {
      role.fail(error instanceof ServiceError ? error : new Cancelled());
      throw error;
    }
    this.writes.push(() => role.succeed(createImage(key)));
    return createImage(key);
  }

  #render(key: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        const at = this.renderings.indexOf(rendering);
        if (at >= 0) this.renderings.splice(at, 1);
      };
      const rendering: Rendering = {
        key,
        frontEnd: this.id,
        finish(failure) {
          end();
          if (failure === undefined) resolve();
          else reject(failure);
        },
      };
      this.renderings.push(rendering);
      const cancel = () => {
        end();
        reject(signal.reason);
      };
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
    });
  }
}

/** A primary with front ends, and channels that the test delivers by hand. */
export class Machine {
  readonly coalescer: MachineCoalescer;
  readonly frontEnds: readonly FrontEnd[];

  constructor(frontEnds: number) {
    this.frontEnds = Array.from({ length: frontEnds }, (_, id) => new FrontEnd(id));
    this.coalescer = new MachineCoalescer((frontEnd, reply) => {
      const to = this.frontEnd(frontEnd);
      if (!to.dead) to.fromPrimary.push(structuredClone(reply));
    });
  }

  frontEnd(id: number): FrontEnd {
    const frontEnd = this.frontEnds[id];
    if (frontEnd === undefined) throw new Error(`no front end ${id}`);
    return frontEnd;
  }

  get running(): FrontEnd[] {
    return this.frontEnds.filter(({ dead }) => !dead);
  }

  get renderings(): Rendering[] {
    return this.running.flatMap(({ renderings }) => renderings);
  }

  /** Delivers a front end's oldest message to the primary. Returns false if there is no message. */
  deliverToPrimary(frontEnd: FrontEnd): boolean {
    const { id, toPrimary } = frontEnd;
    const message = toPrimary.shift();
    if (message === undefined) return false;
    this.coalescer.receive(id, message as CoalescerRequest);
    this.#noticeEnd(frontEnd);
    return true;
  }

  deliverToFrontEnd({ fromPrimary, dead, coalescer }: FrontEnd): boolean {
    const reply = fromPrimary.shift();
    if (reply !== undefined && !dead) coalescer.receive(reply);
    return reply !== undefined;
  }

  /** Kills a front end. The primary notices it after its last message. */
  kill(frontEnd: FrontEnd): void {
    frontEnd.dead = true;
    this.#noticeEnd(frontEnd);
  }

  #noticeEnd({ id, dead, toPrimary }: FrontEnd): void {
    if (dead && toPrimary.length === 0) this.coalescer.forget(id);
  }

  /** Delivers all messages and those that follow from them. */
  async deliverAll(): Promise<void> {
    for (let moved = true; moved; ) {
      await settle();
      moved = false;
      for (const frontEnd of this.frontEnds) {
        while (this.deliverToPrimary(frontEnd)) moved = true;
        await settle();
        while (this.deliverToFrontEnd(frontEnd)) moved = true;
        await settle();
        for (const succeed of frontEnd.writes.splice(0)) {
          if (!frontEnd.dead) succeed();
          moved = true;
        }
      }
    }
  }

  /**
   * Returns the number of a front end's unfinished joins: it refuses a `flight-lead` for any other
   * join.
   */
  async openJoins(frontEnd: FrontEnd, upTo = 1_000): Promise<number> {
    await this.deliverAll();
    let open = 0;
    for (let joinId = 1; joinId <= upTo; joinId++) {
      frontEnd.coalescer.receive({ type: 'flight-lead', key: 'probe', joinId, mayBeStored: false });
      if (frontEnd.toPrimary.splice(0).length === 0) open += 1;
    }
    return open;
  }
}
