import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { hasWrk } from './load/peak.ts';
import { readOptions } from './options.ts';
import { table } from './prewarm/figures.ts';
import type { Ran } from './report/markdown.ts';
import { goalInWords, verdictInWords } from './report/verdict.ts';
import { writeReport } from './report/write.ts';
import { spread } from './scenarios/rounds.ts';
import { Runner } from './scenarios/run.ts';
import { startSources } from './scenarios/sources.ts';
import { scenarioNames, scenarios } from './scenarios/table.ts';
import { bareName } from './servers/bare.ts';
import { prepareIpx } from './servers/ipx.ts';
import { hasNginx } from './servers/nginx.ts';

/** How close the service is to what the machine can do, and how it compares with others. */

const print = (text: string): void => void process.stdout.write(`${text}\n`);
/** Load averages above this part of the cores mean that other programs take part in the result. */
const quietBelow = 0.35;

const options = readOptions();
const quick = options.quick === true;
const rounds = options.rounds ?? (quick ? 2 : 5);
const seconds = options.seconds ?? (quick ? 0.5 : 4);
const encoders = options.encoders === undefined ? null : readFileSync(options.encoders, 'utf8');
const cores = availableParallelism();

const startedAt = performance.now();
const elapsed = (): string => `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`;
const progress = (text: string): void => print(`[${elapsed()}] ${text}`);

const loadBefore = loadavg()[0] ?? 0;
const quiet = loadBefore <= quietBelow * cores;
const ipxFailure = options.ipx
  ? await prepareIpx().then(
      () => null,
      (error: unknown) => String(error),
    )
  : 'by --no-ipx';
const circumstances = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version} on ${process.platform} ${release()}, ${cores} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB.`,
  `${rounds} rounds of ${seconds} s for each comparison, in turns; ratios are of one round each.${quick ? ' A quick run: these figures are preliminary.' : ''} The load generator, the origin and the servers share the machine.`,
  `Load generator of peak hits: ${hasWrk ? 'wrk' : 'the project’s own, whose limit may be below the servers’, as wrk is not installed'}. The least cost of a hit: ${bareName}. nginx: ${hasNginx ? 'installed' : 'not installed'}. IPX: ${ipxFailure === null ? 'measured' : `not measured, ${ipxFailure}`}.`,
  quiet
    ? `Load average before the start: ${loadBefore.toFixed(1)}.`
    : `**The machine was not quiet: its load average was ${loadBefore.toFixed(1)} before the start. These figures are not to be relied on.**`,
  `Command: \`npm run bench${[...process.argv.slice(2)].length > 0 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}\``,
];
for (const line of circumstances) print(line.replaceAll('**', ''));

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

const ran: Ran[] = [];
for (const name of options.only ?? scenarioNames) {
  progress(`${scenarios[name].title}…`);
  const result = await runner.run(name, scenarios[name]);
  ran.push(result);
  if (result.failure !== null) {
    progress(`${name} ended early: ${result.failure}`);
    process.exitCode = 1;
  }
}
await sources.close();

const folder = resolve(options.folder);
await writeReport(folder, { circumstances, ran, encoders });
const judged = ran.flatMap(({ verdicts }) => verdicts);
print(
  `\n${table(
    [
      ['', 'case', 'measured', 'goal', 'verdict'],
      ...judged.map((one) => [
        `${one.scenario}: ${one.measure.name}`,
        one.finding.of,
        `${spread(one.finding.values)} ${one.measure.unit}`,
        goalInWords(one.measure),
        verdictInWords(one),
      ]),
    ],
    5,
  )}\n`,
);
const withGoal = judged.filter(({ met }) => met !== null);
const short = withGoal.filter(({ met }) => met === false);
print(`${withGoal.length - short.length} of ${withGoal.length} goals are met; ${elapsed()}`);
if (short.length > 0) print('why goals are missed, as far as it was measured: docs/performance.md');
print(`written: ${join(folder, 'report.md')}`);
