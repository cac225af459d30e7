import fc from 'fast-check';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import type { Image } from '../../../pool/image.ts';
import { type FrontEnd, Machine, settle } from './machine.ts';

interface PendingImage {
  readonly key: string;
  readonly of: FrontEnd;
  readonly controller: AbortController;
  end: 'waiting' | 'image' | 'wrong image' | 'failure' | 'left';
}

/** An event that may come next; `at` selects its subject. */
interface Step {
  readonly what: 'want' | 'leave' | 'up' | 'down' | 'finish' | 'fail' | 'overload' | 'land' | 'die';
  readonly at: number;
  readonly key: string;
}

const pick = <T>(from: readonly T[], at: number): T | undefined => from[at % from.length];

/** A machine with events in any order, and all requested images. */
class Scenario {
  readonly machine = new Machine(3);
  readonly waiting: PendingImage[] = [];

  take({ what, at, key }: Step): void {
    const { machine } = this;
    const one = pick(machine.running, at);
    const rendering = pick(machine.renderings, at);
    switch (what) {
      case 'want':
        if (one !== undefined) this.#want(one, key);
        return;
      case 'leave':
        return pick(this.#waiting(), at)?.controller.abort(new Error('left'));
      case 'up':
        // Messages of dead front ends arrive too.
        machine.deliverToPrimary(machine.frontEnd(at % machine.frontEnds.length));
        return;
      case 'down':
        if (one !== undefined) machine.deliverToFrontEnd(one);
        return;
      case 'finish':
        return rendering?.finish();
      case 'fail':
        return rendering?.finish(new ServiceError('source_corrupt', 'It is torn.'));
      case 'overload':
        return rendering?.finish(new ServiceError('overloaded', 'Too much to do.'));
      case 'land':
        return one?.writes.shift()?.();
      case 'die':
        if (one !== undefined && machine.running.length > 1) machine.kill(one);
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

  hanging(): PendingImage[] {
    return this.#waiting().filter(({ of }) => !of.dead);
  }

  #waiting(): PendingImage[] {
    return this.waiting.filter(({ end }) => end === 'waiting');
  }

  #want(of: FrontEnd, key: string): void {
    const wanted: PendingImage = { key, of, controller: new AbortController(), end: 'waiting' };
    this.waiting.push(wanted);
    of.get(key, wanted.controller.signal).then(
      ({ body }: Image) => {
        wanted.end = Buffer.from(body).toString() === key ? 'image' : 'wrong image';
      },
      (error: unknown) => {
        wanted.end = error instanceof ServiceError ? 'failure' : 'left';
      },
    );
  }
}

const step = (keys: readonly string[]): fc.Arbitrary<Step> =>
  fc.record({
    what: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('up' as const, 'down' as const) },
      { weight: 4, arbitrary: fc.constant('want' as const) },
      {
        weight: 4,
        arbitrary: fc.constantFrom('leave' as const, 'finish' as const, 'land' as const),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom('fail' as const, 'overload' as const, 'die' as const),
      },
    ),
    at: fc.nat(11),
    key: fc.constantFrom(...keys),
  });

for (const keys of [['k'], ['k', 'l']]) {
  t.test(`no request hangs after any order of events for ${keys.length} keys`, async (t) => {
    let ended = { image: 0, failure: 0, left: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step(keys), { minLength: 10, maxLength: 80 }), async (steps) => {
        const story = new Scenario();
        for (const one of steps) {
          story.take(one);
          await settle();
          const twice = story.renderedTwice();
          if (twice.length > 0) throw new Error(`two lead to ${twice}`);
        }
        await story.end();
        if (story.hanging().length > 0) throw new Error(`${story.hanging().length} hang`);
        if (story.machine.coalescer.size > 0) throw new Error('a render is left');
        for (const one of story.machine.running) {
          const open = await story.machine.openJoins(one, steps.length);
          if (open > 0) throw new Error(`${open} joins are left`);
        }
        for (const { end } of story.waiting) {
          if (end === 'wrong image') throw new Error('a request got the image of another key');
          if (end !== 'waiting') ended = { ...ended, [end]: ended[end] + 1 };
        }
      }),
      { numRuns: 400 },
    );
    t.comment(ended);
    for (const [how, times] of Object.entries(ended)) t.ok(times > 5, `${how}: ${times} times`);
  });
}
