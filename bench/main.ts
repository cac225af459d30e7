import { availableParallelism } from 'node:os';
import { peerServer, readBenchOptions, scenarios } from './options.ts';
import { OpenResources } from './resources.ts';
import { runScenarios } from './run.ts';
import { type Bench, startSources } from './scenarios/bench.ts';
import { bareName } from './servers/bare.ts';
import { hasMinimal } from './servers/minimal.ts';
import { hasNginx } from './servers/nginx.ts';

/** `npm run bench`: compares the service with the machine's limits and with other servers. */

const { only, folder, peer = [], peerPid, photographs = null, ...options } = readBenchOptions();
const quick = options.quick === true;
const rounds = options.rounds ?? (quick ? 2 : 5);
const seconds = options.seconds ?? (quick ? 0.5 : 4);

/** Needs photographs, and runs alone with them. */
const special = 'published';
const names = only ?? (photographs === null ? null : [special]);

const environment = [
  `${rounds} rounds of ${seconds} s for each comparison, in turns; ratios are of one round each.${quick ? ' A quick run: these figures are preliminary.' : ''}`,
  `The minimum cost of a hit: ${bareName}. The minimal server: ${hasMinimal ? 'measured' : 'not measured, because uWebSockets.js does not load'}. nginx: ${hasNginx ? 'installed' : 'not installed'}.`,
];
const opened = new OpenResources();
const common: Omit<Bench, 'results' | 'opened'> = {
  quick,
  rounds,
  seconds,
  cores: availableParallelism(),
  sources: await opened.open(startSources()),
  photographs,
  ssimulacra2: options.ssimulacra2 ?? null,
  peers: peer.map((entry) => peerServer(entry, peerPid?.get(entry.name) ?? null)),
};
const { failed } = await runScenarios({
  scenarios: Object.entries(scenarios).filter(
    ([name]) => names?.includes(name) ?? name !== special,
  ),
  benchFor: (results, ofScenario): Bench => ({ ...common, results, opened: ofScenario }),
  opened,
  folder,
  environment,
});
if (failed > 0) process.exitCode = 1;
