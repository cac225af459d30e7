import { isFailed } from '../client.ts';
import { type FleetPart, failuresInWords } from '../results.ts';
import { every } from './whole.ts';

const measures = {
  failed: { what: 'requests without an image', unit: 'requests', goal: { atMost: 0 } },
  'without a render': {
    what: 'known variants that new machines deliver without rendering them',
    unit: '%',
    goal: { atLeast: 99 },
  },
} as const;

export const replaced: FleetPart = {
  title: 'All machines are replaced',
  method:
    'One after the other, each machine is stopped and its data deleted, and a new one takes its place, while known variants are requested. Then each known variant is requested once.',
  measures,
  async run(bench) {
    const { fleet, variants, finding } = bench;
    const { client, machines } = fleet;
    const ended = new AbortController();
    let next = 0;
    const during = client.atRate(50, () => next++ % variants, ended.signal);
    for (const machine of machines) {
      await machine.stop();
      await machine.erase();
      await machine.start();
      bench.progress(`machine ${machine.name} is replaced`);
      await fleet.balancer.untilUsed(machine);
    }
    ended.abort();
    const replacing = await during;
    const failed = replacing.filter(isFailed).length;
    finding('failed', 'during the replacement', [failed], failuresInWords(replacing));
    const all = Array.from({ length: variants }, (_, variant) => variant);
    const answers = await client.all(all, 12, every(bench, variants));
    const count = answers.filter((one) => one.status === 200 && one.tier !== 'miss').length;
    const tiers = ['memory', 'disk', 'shared', 'miss'].map(
      (tier) => `${tier} ${answers.filter((answer) => answer.tier === tier).length}`,
    );
    finding('failed', 'afterwards', [answers.filter(isFailed).length], failuresInWords(answers));
    finding('without a render', 'all', [(100 * count) / variants], tiers.join(', '));
  },
};
