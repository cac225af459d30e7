import { ServiceError } from '../../../contract/errors.ts';
import { Cancelled, type Leader } from '../../../pool/coalescer.ts';
import { Flights } from '../../../pool/single-flight.ts';
import type { Image } from '../../../pool/image.ts';
import type { FlightOrder, FlightReport, ToPrimary } from '../../../server/cluster/channel.ts';
import { PrimaryCoordination } from '../../../server/cluster/coalescer-client.ts';
import { FlightControl } from '../../../server/cluster/coalescer.ts';

export const imageOf = (key: string): Image => ({
  body: Buffer.from(key),
  contentType: 'image/png',
  etag: `"${key}"`,
  width: 1,
  height: 1,
});

/** Lets everything that follows from what has happened so far happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A render under way, whose end the test decides. */
export interface Rendering {
  readonly key: string;
  readonly frontEnd: number;
  finish(failure?: ServiceError): void;
}

/** A front end as the engine makes one of a coordination: its own flights around the machine's. */
export class FrontEnd {
  readonly id: number;
  readonly coordination: PrimaryCoordination;
  readonly flights = new Flights<string, Image>();
  /** Messages that the other side has not received yet. */
  readonly up: ToPrimary[] = [];
  readonly down: FlightOrder[] = [];
  /** Renders that have an image and are still writing it to disk. */
  readonly landings: (() => void)[] = [];
  readonly renderings: Rendering[] = [];
  dead = false;

  constructor(id: number) {
    this.id = id;
    this.coordination = new PrimaryCoordination({
      // A dead process sends nothing, and nothing but data passes between processes.
      send: (message) => this.dead || this.up.push(structuredClone(message)),
    });
    this.coordination.holdFlight = (key) => this.flights.hold(key);
  }

  obtain(key: string, signal?: AbortSignal): Promise<Image> {
    return this.flights.join(key, (flight) => this.#work(key, flight), signal);
  }

  async #work(key: string, signal: AbortSignal): Promise<Image> {
    const place = await this.coordination.enter(key, true, signal);
    if (place.role === 'follower') return place.image;
    try {
      await this.#render(key, signal);
    } catch (error) {
      place.fail(error instanceof ServiceError ? error : new Cancelled());
      throw error;
    }
    this.#landLater(place, key);
    return imageOf(key);
  }

  #landLater(place: Leader, key: string): void {
    this.landings.push(() => place.land(imageOf(key)));
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

/** A primary with its front ends, and channels between them that the test moves by hand. */
export class Machine {
  readonly control: FlightControl;
  readonly frontEnds: readonly FrontEnd[];

  constructor(frontEnds: number) {
    this.frontEnds = Array.from({ length: frontEnds }, (_, id) => new FrontEnd(id));
    this.control = new FlightControl((frontEnd, order) => {
      const to = this.frontEnd(frontEnd);
      if (!to.dead) to.down.push(structuredClone(order));
    });
  }

  frontEnd(id: number): FrontEnd {
    const one = this.frontEnds[id];
    if (one === undefined) throw new Error(`there is no front end ${id}`);
    return one;
  }

  get living(): FrontEnd[] {
    return this.frontEnds.filter(({ dead }) => !dead);
  }

  get renderings(): Rendering[] {
    return this.living.flatMap(({ renderings }) => renderings);
  }

  /** The oldest message of a front end reaches the primary. False when there is none. */
  deliverUp({ id, up }: FrontEnd): boolean {
    const message = up.shift();
    if (message !== undefined) this.control.receive(id, message as FlightReport);
    return message !== undefined;
  }

  deliverDown({ down, dead, coordination }: FrontEnd): boolean {
    const order = down.shift();
    if (order !== undefined && !dead) coordination.receive(order);
    return order !== undefined;
  }

  /** The primary learns at once; what the front end had sent before may reach it later. */
  kill(frontEnd: FrontEnd): void {
    frontEnd.dead = true;
    this.control.forget(frontEnd.id);
  }

  /** Delivers all there is until nothing follows from it any more. */
  async quiet(): Promise<void> {
    for (let moved = true; moved; ) {
      await settle();
      moved = false;
      for (const one of this.frontEnds) {
        while (this.deliverUp(one)) moved = true;
        await settle();
        while (this.deliverDown(one)) moved = true;
        await settle();
        for (const land of one.landings.splice(0)) {
          if (!one.dead) land();
          moved = true;
        }
      }
    }
  }

  /** Tickets that a front end still knows: an order to lead is sent back only by who does not. */
  async openTickets(frontEnd: FrontEnd, upTo = 1_000): Promise<number> {
    await this.quiet();
    let open = 0;
    for (let ticket = 1; ticket <= upTo; ticket++) {
      frontEnd.coordination.receive({ type: 'flight-lead', key: 'probe', ticket });
      if (frontEnd.up.splice(0).length === 0) open += 1;
    }
    return open;
  }
}
