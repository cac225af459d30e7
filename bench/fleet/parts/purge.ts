import { setTimeout as sleep } from 'node:timers/promises';
import { isFailed } from '../client.ts';
import { type FleetPart, failuresInWords } from '../results.ts';
import { every } from './whole.ts';

const effectiveAfterMs = 2_000;
/** One machine can render as many while the others start. */
const perSecond = 30;

const measures = {
  old: {
    what: `responses with an image from before the purge, to requests sent ${effectiveAfterMs / 1_000} s after it or later`,
    unit: 'responses',
    goal: { atMost: 0 },
  },
  failed: { what: 'requests without an image', unit: 'requests', goal: { atMost: 0 } },
} as const;

export const purge: FleetPart = {
  title: 'A purge, while a machine is killed and one returns with an old disk',
  method: `One machine is stopped. All pictures are replaced and purged, another machine is killed at the same time, and the first returns with its old disk. Meanwhile ${perSecond} requests a second are sent; then each variant is requested once.`,
  measures,
  async run(bench) {
    const { fleet, variants, finding, faultMs } = bench;
    const [first, second, third] = fleet.machines;
    if (first === undefined || second === undefined || third === undefined) return;
    const all = Array.from({ length: variants }, (_, variant) => variant);
    bench.progress('requesting all images before the purge…');
    const before = await fleet.client.all(all, 12, every(bench, variants));
    const oldTags = new Map(before.map(({ variant, etag }) => [variant, etag]));

    await third.stop();
    const ended = new AbortController();
    const next = () => Math.floor(Math.random() * variants);
    const during = fleet.client.atRate(perSecond, next, ended.signal);
    await sleep(1_000);
    fleet.pictures.replace();
    const purged = fleet.purge(first);
    await second.kill();
    await purged;
    const effectiveAt = performance.now() + effectiveAfterMs;
    await third.start();
    bench.progress(`machine ${third.name} returned with its old disk`);
    await second.start();
    bench.progress(`machine ${second.name} returned after its kill`);
    await sleep(Math.max(10_000, faultMs / 2));
    ended.abort();
    const answers = await during;
    const afterwards = await fleet.client.all(all, 12, every(bench, variants));

    for (const [name, found] of [
      ['during', answers],
      ['afterwards', afterwards],
    ] as const) {
      const late = found.filter(({ sentAt }) => sentAt >= effectiveAt);
      const old = late.filter(({ variant, etag }) => etag !== '' && etag === oldTags.get(variant));
      finding('old', name, [old.length], `${late.length} responses`);
      finding('failed', name, [found.filter(isFailed).length], failuresInWords(found));
    }
  },
};
