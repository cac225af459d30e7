import fc from 'fast-check';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import type { Image } from '../../../pool/image.ts';
import { type FrontEnd, Machine, settle } from './machine.ts';

interface Request {
  readonly key: string;
  readonly frontEnd: FrontEnd;
  readonly controller: AbortController;
  result: 'none' | 'image' | 'wrong image' | 'error' | 'left';
}

/** Kinds of events, with a weight by frequency. */
const weights = {
  deliverToPrimary: 4,
  deliverToFrontEnd: 4,
  request: 4,
  leave: 2,
  finish: 2,
  write: 2,
  fail: 1,
  overload: 1,
  die: 1,
};

/** A possible next event; `index` selects the front end, request or render. */
interface Event {
  readonly kind: keyof typeof weights;
  readonly index: number;
  readonly key: string;
}

/** A machine with events in any order, and all requests. */
class Scenario {
  readonly machine = new Machine(3);
  readonly requests: Request[] = [];

  handle({ kind, index, key }: Event): void {
    const { machine } = this;
    const pick = <T>(from: readonly T[]): T | undefined => from[index % from.length];
    const frontEnd = pick(machine.running);
    const rendering = pick(machine.renderings);
    switch (kind) {
      case 'request':
        if (frontEnd !== undefined) this.#request(frontEnd, key);
        return;
      case 'leave':
        return pick(this.#open())?.controller.abort(new Error('left'));
      case 'deliverToPrimary':
        // Messages of dead front ends arrive too.
        machine.deliverToPrimary(machine.frontEnd(index % machine.frontEnds.length));
        return;
      case 'deliverToFrontEnd':
        if (frontEnd !== undefined) machine.deliverToFrontEnd(frontEnd);
        return;
      case 'finish':
        return rendering?.finish();
      case 'fail':
        return rendering?.finish(new ServiceError('source_corrupt', 'It is damaged.'));
      case 'overload':
        return rendering?.finish(new ServiceError('overloaded', 'Too much to do.'));
      case 'write':
        return frontEnd?.writes.shift()?.();
      case 'die':
        if (frontEnd !== undefined && machine.running.length > 1) machine.kill(frontEnd);
    }
  }

  /** Keys that several running front ends render. */
  renderedTwice(): string[] {
    const keys = this.machine.renderings.map(({ key }) => key);
    return keys.filter((key, at) => keys.indexOf(key) !== at);
  }

  /** Finishes all work in progress. */
  async end(): Promise<void> {
    do {
      for (const rendering of this.machine.renderings) rendering.finish();
      await this.machine.deliverAll();
    } while (this.machine.renderings.length > 0);
  }

  /** Returns the unfinished requests in running front ends. */
  hanging(): Request[] {
    return this.#open().filter(({ frontEnd }) => !frontEnd.dead);
  }

  #open(): Request[] {
    return this.requests.filter(({ result }) => result === 'none');
  }

  #request(frontEnd: FrontEnd, key: string): void {
    const request: Request = { key, frontEnd, controller: new AbortController(), result: 'none' };
    this.requests.push(request);
    frontEnd.get(key, request.controller.signal).then(
      ({ body }: Image) => {
        request.result = Buffer.from(body).toString() === key ? 'image' : 'wrong image';
      },
      (error: unknown) => {
        request.result = error instanceof ServiceError ? 'error' : 'left';
      },
    );
  }
}

const kinds = Object.entries(weights).map(([kind, weight]) => ({
  weight,
  arbitrary: fc.constant(kind as Event['kind']),
}));

for (const keys of [['k'], ['k', 'l']]) {
  t.test(`completes every request after any order of events for ${keys.length} keys`, async (t) => {
    const event = fc.record({
      kind: fc.oneof(...kinds),
      index: fc.nat(11),
      key: fc.constantFrom(...keys),
    });
    const counts = { image: 0, error: 0, left: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 80 }), async (events) => {
        const scenario = new Scenario();
        for (const scheduled of events) {
          scenario.handle(scheduled);
          await settle();
          const twice = scenario.renderedTwice();
          if (twice.length > 0) throw new Error(`two front ends render ${twice}`);
        }
        await scenario.end();
        if (scenario.hanging().length > 0) throw new Error(`${scenario.hanging().length} hang`);
        if (scenario.machine.coalescer.size > 0) throw new Error('a render is left');
        for (const task of scenario.machine.running) {
          const open = await scenario.machine.openJoins(task, events.length);
          if (open > 0) throw new Error(`${open} joins are left`);
        }
        for (const { result } of scenario.requests) {
          if (result === 'wrong image') throw new Error('a request got the image of another key');
          if (result !== 'none') counts[result] += 1;
        }
      }),
      { numRuns: 400 },
    );
    t.comment(counts);
    for (const [result, times] of Object.entries(counts)) t.ok(times > 5, `${result}: ${times}`);
  });
}
