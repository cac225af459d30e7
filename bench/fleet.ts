import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { numberFrom } from './arguments.ts';
import { startFleet } from './fleet/fleet.ts';
import { growth } from './fleet/parts/growth.ts';
import { bucketAway, storeAway } from './fleet/parts/outages.ts';
import { purge } from './fleet/parts/purge.ts';
import { replaced } from './fleet/parts/replaced.ts';
import { whole } from './fleet/parts/whole.ts';
import type { FleetBench } from './fleet/results.ts';
import { verdictTable } from './report/verdict.ts';
import { type ScenarioResult, writeReport } from './report/write.ts';
import { collect } from './scenarios/run.ts';
import { installed } from './servers/launch.ts';

/** `npm run bench:fleet`: measures three services behind HAProxy while machines, the store and the bucket fail. */

const parts = { whole, replaced, storeAway, bucketAway, purge, growth } as const;

const { quick, folder, requests, fault } = new Command('bench:fleet')
  .description(
    'Runs three services, each with its own data folder, behind HAProxy, with one store and one S3 bucket, and makes each of them fail. Takes about ten minutes and needs HAProxy. The exit code is 1 when a goal is missed.',
  )
  .option('--quick', 'fewer requests, and faults of 8 s')
  .option('--folder <path>', 'where report.md and its pictures are written', 'data/bench-fleet')
  .option('--requests <n>', 'requests and variants (10000; quick: 1000)', numberFrom(100, 100_000))
  .option('--fault <seconds>', 'length of each fault (60; quick: 8)', numberFrom(2, 3_600))
  .parse()
  .opts<{ quick?: true; folder: string; requests?: number; fault?: number }>();

const startedAt = performance.now();
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const progress = (text: string): void =>
  print(`[${((performance.now() - startedAt) / 1_000).toFixed(0)} s] ${text}`);

if (!installed('haproxy')) {
  process.stderr.write(
    'bench:fleet: HAProxy is not installed (for example: apt install haproxy).\n',
  );
  process.exit(1);
}

const fleet = await startFleet();
const stop = async () => {
  await fleet.close();
  process.exit(130);
};
process.once('SIGINT', () => void stop()).once('SIGTERM', () => void stop());
progress('three machines are ready');

const results: ScenarioResult[] = [];
const common = {
  fleet,
  quick: quick === true,
  variants: requests ?? (quick ? 1_000 : 10_000),
  faultMs: 1_000 * (fault ?? (quick ? 8 : 60)),
  progress,
};
let measured: Pick<FleetBench, 'cost' | 'busiestShare'> = { cost: null, busiestShare: 1 };
for (const [name, scenario] of Object.entries(parts)) {
  progress(`${scenario.title}…`);
  const { findings, verdicts, reporter } = collect(name, scenario, progress);
  const bench: FleetBench = { ...common, ...reporter, ...measured };
  let failure: string | null = null;
  try {
    await scenario.run(bench);
  } catch (error) {
    failure = String(error);
    progress(`${name} failed: ${failure}`);
  }
  measured = { cost: bench.cost, busiestShare: bench.busiestShare };
  results.push({ name, scenario, verdicts, findings, failure });
}
await fleet.close();

const environment = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version} on ${process.platform}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), which all machines, HAProxy, the store, the bucket, the origin and the clients share.`,
  `${common.variants} variants of ${Math.ceil(common.variants / 10)} sources; faults of ${common.faultMs / 1_000} s.`,
];
await writeReport(resolve(folder), { environment, results });
const verdicts = results.flatMap((one) => one.verdicts);
print(`\n${verdictTable(verdicts)}\n`);
const missed = verdicts.filter(({ met }) => met === false);
progress(`${missed.length} goals are missed; the report is in ${resolve(folder)}`);
if (missed.length > 0 || results.some(({ failure }) => failure !== null)) process.exitCode = 1;
