import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { hasWrk } from './load/peak.ts';
import { readBenchOptions } from './options.ts';
import { verdictTable } from './report/verdict.ts';
import { type ScenarioResult, writeReport } from './report/write.ts';
import { Runner } from './scenarios/run.ts';
import { startSources } from './scenarios/sources.ts';
import { scenarioNames, scenarios } from './scenarios/table.ts';
import { bareName } from './servers/bare.ts';
import { prepareIpx } from './servers/ipx.ts';
import { hasMinimal } from './servers/minimal.ts';
import { hasNginx } from './servers/nginx.ts';

/** `npm run bench`: compares the service with what the machine can do and with other servers. */

const print = (text: string): void => void process.stdout.write(`${text}\n`);
/** Load averages above this share of the cores mean that other programs affect the result. */
const quietBelow = 0.35;

const options = readBenchOptions();
const quick = options.quick === true;
const rounds = options.rounds ?? (quick ? 2 : 5);
const seconds = options.seconds ?? (quick ? 0.5 : 4);
const cores = availableParallelism();

const startedAt = performance.now();
const elapsed = (): string => `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`;
const progress = (text: string): void => print(`[${elapsed()}] ${text}`);

/** Why IPX is not measured, or null. */
function ipxMissing(): string | null {
  if (!options.ipx) return 'by --no-ipx';
  try {
    prepareIpx();
    return null;
  } catch (error) {
    return String(error);
  }
}

const loadBefore = loadavg()[0] ?? 0;
const ipxFailure = ipxMissing();
const environment = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version} on ${process.platform} ${release()}, ${cores} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB.`,
  `${rounds} rounds of ${seconds} s for each comparison, in turns; ratios are of one round each.${quick ? ' A quick run: these figures are preliminary.' : ''} The load generator, the origin and the servers share the machine.`,
  `Load generator of peak hits: ${hasWrk ? 'wrk' : 'the project’s own, whose limit may be below the servers’, because wrk is not installed'}. The minimum cost of a hit: ${bareName}. The minimal server: ${hasMinimal ? 'measured' : 'not measured, because uWebSockets.js does not load'}. nginx: ${hasNginx ? 'installed' : 'not installed'}. IPX: ${ipxFailure === null ? 'measured' : `not measured, ${ipxFailure}`}.`,
  loadBefore <= quietBelow * cores
    ? `Load average before the start: ${loadBefore.toFixed(1)}.`
    : `**The machine was not quiet: its load average was ${loadBefore.toFixed(1)} before the start. These figures are unreliable.**`,
  `Command: \`${['npm run bench', ...process.argv.slice(2)].join(' ').replace('bench ', 'bench -- ')}\``,
];
for (const line of environment) print(line.replaceAll('**', ''));

const sources = await startSources();
const peers = (options.peer ?? []).map((peer) => ({
  ...peer,
  pid: options.peerPid?.get(peer.name) ?? null,
}));
const runner = new Runner({
  quick,
  rounds,
  seconds,
  cores,
  sources,
  progress,
  hasIpx: ipxFailure === null,
  photographs: options.photographs ?? null,
  ssimulacra2: options.ssimulacra2 ?? null,
  peers,
  defaultPeers: options.defaultPeer ?? peers,
});
const stop = async () => {
  await runner.close();
  await sources.close();
  process.exit(130);
};
process.once('SIGINT', () => void stop()).once('SIGTERM', () => void stop());

const results: ScenarioResult[] = [];
for (const name of options.only ?? scenarioNames) {
  progress(`${scenarios[name].title}…`);
  const result = await runner.run(name, scenarios[name]);
  results.push(result);
  if (result.failure !== null) {
    progress(`${name} ended early: ${result.failure}`);
    process.exitCode = 1;
  }
}
await sources.close();

const folder = resolve(options.folder);
await writeReport(folder, { environment, results });
const verdicts = results.flatMap((one) => one.verdicts);
print(`\n${verdictTable(verdicts)}\n`);
const withGoal = verdicts.filter(({ met }) => met !== null);
const met = withGoal.filter((one) => one.met === true);
print(`${met.length} of ${withGoal.length} goals are met; ${elapsed()}`);
if (met.length < withGoal.length) print('known reasons for missed goals: docs/performance.md');
print(`written: ${join(folder, 'report.md')}`);
