import { bytesInWords, durationInWords, inWords, inWordsOrUnknown } from './figures.ts';
import { Graph } from './graph.tsx';
import { type Health, type HealthHistory, openJobs, perSecond } from './health.ts';
import { FailureNotice } from './notice.tsx';

/** The state of the service, its queues and caches over the last minutes. */
export function ServicePage({ history }: { readonly history: HealthHistory }) {
  const { samples, failure } = history;
  const health = samples.at(-1)?.health;
  return (
    <section class="service">
      <h1>Service</h1>
      <FailureNotice failure={failure} />
      {health === undefined ? <p class="quiet">Asking…</p> : <State health={health} />}
      {health !== undefined && (
        <>
          <h2>The last five minutes</h2>
          <div class="graphs">
            <Graphs history={history} health={health} />
          </div>
        </>
      )}
    </section>
  );
}

function State({ health }: { health: Health }) {
  const { status, reason, uptimeSeconds, checks } = health;
  const facts = [
    ['Status', status],
    ['Runs for', durationInWords(uptimeSeconds)],
    [
      'Store',
      checks.database.ok ? `answers in ${checks.database.latencyMs} ms` : 'does not answer',
    ],
    ['Refused as too busy', inWords(checks.transformQueue.rejected)],
    ['Failed prewarm jobs', inWordsOrUnknown(checks.prewarmQueue.failed)],
  ];
  return (
    <>
      {reason !== undefined && (
        <p class="notice bad" role="alert">
          {reason}
        </p>
      )}
      <dl class="figures">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Graphs({ history: { samples }, health }: { history: HealthHistory; health: Health }) {
  const { cache, transformQueue, prewarmQueue } = health.checks;
  const series = (value: (checks: Health['checks']) => number) =>
    samples.map((sample) => value(sample.health.checks));
  const renders = perSecond(samples, ({ checks }) => checks.transformQueue.completed);
  const misses = perSecond(samples, ({ checks }) => checks.transformQueue.misses);
  return (
    <>
      <Graph
        title="Transforms running"
        now={inWords(transformQueue.active)}
        more={`of ${transformQueue.concurrency}`}
        values={series((checks) => checks.transformQueue.active)}
        limit={transformQueue.concurrency}
      />
      <Graph
        title="Transforms waiting"
        now={inWords(transformQueue.queued)}
        more={`of at most ${transformQueue.maxQueue}`}
        values={series((checks) => checks.transformQueue.queued)}
      />
      <Graph
        title="Transforms done"
        now={inWords(renders.at(-1) ?? 0)}
        more="a second"
        values={renders}
      />
      <Graph
        title="Requests that no cache had"
        now={inWords(misses.at(-1) ?? 0)}
        more="a second"
        values={misses}
      />
      <Graph
        title="Memory cache"
        now={bytesInWords(cache.memorySizeBytes)}
        more={`of ${bytesInWords(cache.memoryMaxBytes)}`}
        values={series((checks) => checks.cache.memorySizeBytes)}
        limit={cache.memoryMaxBytes}
      />
      <Graph
        title="Disk cache"
        now={bytesInWords(cache.diskSizeBytes)}
        more={`of ${bytesInWords(cache.diskMaxBytes)}`}
        values={series((checks) => checks.cache.diskSizeBytes)}
        limit={cache.diskMaxBytes}
      />
      <Graph
        title="Sources being fetched"
        now={inWords(transformQueue.fetching)}
        values={series((checks) => checks.transformQueue.fetching)}
      />
      <Graph
        title="Prewarm queue"
        now={inWordsOrUnknown(openJobs(health))}
        more={`sources, ${inWordsOrUnknown(prewarmQueue.active)} of them running`}
        values={samples.map((sample) => openJobs(sample.health)).filter((jobs) => jobs !== null)}
      />
    </>
  );
}
