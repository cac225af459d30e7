import { Command } from 'commander';
import { numberFrom } from '../demo/arguments.ts';
import { type FleetBench, hasHaproxy, startFleet } from './fleet/fleet.ts';
import { bucketAway, purge, replaced, storeAway, whole } from './fleet/parts.ts';
import { OpenResources } from './resources.ts';
import { progress, runScenarios } from './run.ts';

/** `npm run bench:fleet`: measures three services behind HAProxy while machines, the store and the bucket fail. */

const command = new Command('bench:fleet')
  .description(
    'Runs three services, each with its own data folder, behind HAProxy, with one store and one S3 bucket, and makes each of them fail. Takes about ten minutes and needs HAProxy. The exit code is 1 when a goal is missed.',
  )
  .option('--quick', 'fewer requests, and faults of 8 s')
  .option('--folder <path>', 'where report.md is written', 'data/bench-fleet')
  .option('--requests <n>', 'requests and variants (10000; quick: 1000)', numberFrom(100, 100_000))
  .option('--fault <seconds>', 'length of each fault (60; quick: 8)', numberFrom(2, 3_600))
  .parse();
const options = command.opts<{
  quick?: true;
  folder: string;
  requests?: number;
  fault?: number;
}>();
if (!hasHaproxy) command.error('HAProxy is not installed (for example: apt install haproxy).');

const variants = options.requests ?? (options.quick ? 1_000 : 10_000);
const faultS = options.fault ?? (options.quick ? 8 : 60);
const opened = new OpenResources();
const fleet = await opened.open(startFleet());
progress('three machines are ready');
const { missed, failed } = await runScenarios({
  scenarios: Object.entries({ whole, replaced, storeAway, bucketAway, purge }),
  benchFor: (results): FleetBench => ({ results, fleet, variants, faultMs: 1_000 * faultS }),
  opened,
  folder: options.folder,
  environment: [
    `${variants} variants of ${Math.ceil(variants / 10)} sources; faults of ${faultS} s.`,
  ],
});
if (missed + failed > 0) process.exitCode = 1;
