import type { ServiceVersion } from '@image-delivery/sdk/client';
import { useEffect, useState } from 'preact/hooks';
import { formatBytes, formatDuration, formatNumber } from '../api/format.ts';
import {
  computeState,
  type HealthBody,
  type HealthHistory,
  missingWorker,
  openJobs,
  perSecond,
} from '../api/health.ts';
import type { Api } from '../api/service.ts';
import { type Fact, FactList } from '../components/facts.tsx';
import { Graph } from '../components/graph.tsx';
import { FailureNotice, Loading, StartWorker } from '../components/notice.tsx';
import { Title } from '../components/page-section.tsx';

interface ServicePageProps {
  readonly history: HealthHistory;
  /** Null if the user is not signed in. */
  readonly api: Api | null;
}

/** Returns the service version, which requires a key. */
function useVersion(api: Api | null): ServiceVersion | null {
  const [version, setVersion] = useState<ServiceVersion | null>(null);
  useEffect(() => {
    setVersion(null);
    // If the request fails, the service's state shows the reason.
    api?.('GET', '/version').then(
      (body) => setVersion(body.version),
      () => {},
    );
  }, [api]);
  return version;
}

/** The service's state, queues and caches over the last minutes. */
export function ServicePage({ history, api }: ServicePageProps) {
  const version = useVersion(api);
  const { samples, failure } = history;
  const health = samples.at(-1)?.health;
  return (
    <section class="service">
      <Title text="Service" />
      <FailureNotice failure={failure} />
      {health === undefined && failure === null && <Loading />}
      {health !== undefined && (
        <>
          <State health={health} history={history} version={version} />
          <h2>The last five minutes</h2>
          <div class="graphs">
            <Graphs history={history} health={health} />
          </div>
        </>
      )}
    </section>
  );
}

interface StateProps {
  readonly health: HealthBody;
  readonly history: HealthHistory;
  readonly version: ServiceVersion | null;
}

function State({ health, history, version }: StateProps) {
  const { reason, uptimeSeconds, checks } = health;
  const { word } = computeState(history, false);
  const worker = missingWorker(history);
  const isKnown = history.failure === null;
  const store = checks.database.ok ? `${checks.database.latencyMs} ms` : 'does not respond';
  const facts: readonly Fact[] = [
    ['Status', word, isKnown ? '' : 'the figures are of before'],
    ['Uptime', formatDuration(uptimeSeconds), ''],
    ['Response time of the store', store, ''],
    ['Refused as too busy', formatNumber(checks.transformQueue.rejected), ''],
    ['Failed prewarm jobs', formatNumber(checks.prewarmQueue.failed), ''],
    ...(version === null
      ? []
      : [['Version', `${version.service}, Node ${version.node}`, version.platform] as const]),
  ];
  return (
    <>
      {isKnown && reason !== undefined && (
        <p class="notice bad" role="alert">
          {reason}
        </p>
      )}
      {isKnown && worker !== null && (
        <p class="notice" role="status">
          {worker} <StartWorker />
        </p>
      )}
      <FactList facts={facts} />
    </>
  );
}

function Graphs({ history: { samples }, health }: { history: HealthHistory; health: HealthBody }) {
  const { cache, transformQueue, prewarmQueue } = health.checks;
  const series = (value: (checks: HealthBody['checks']) => number) =>
    samples.map((sample) => value(sample.health.checks));
  const renders = perSecond(samples, ({ checks }) => checks.transformQueue.completed);
  const misses = perSecond(samples, ({ checks }) => checks.transformQueue.misses);
  const { at: firstAt = 0 } = samples[0] ?? {};
  const { at: lastAt = 0 } = samples.at(-1) ?? {};
  const time = { from: `${formatDuration((lastAt - firstAt) / 1_000)} ago`, to: 'now' };
  const counts = { ...time, unit: 'count', format: formatNumber };
  const rates = { ...time, unit: 'per second', format: formatNumber, more: 'a second' };
  const bytes = { ...time, unit: '', format: formatBytes };
  return (
    <>
      <Graph
        title="Transforms running"
        {...counts}
        now={formatNumber(transformQueue.active)}
        more={`of ${transformQueue.concurrency}`}
        values={series((checks) => checks.transformQueue.active)}
        limit={transformQueue.concurrency}
      />
      <Graph
        title="Transforms waiting"
        {...counts}
        now={formatNumber(transformQueue.queued)}
        more={`of at most ${transformQueue.maxQueue}`}
        values={series((checks) => checks.transformQueue.queued)}
      />
      <Graph
        title="Transforms done"
        {...rates}
        now={formatNumber(renders.at(-1) ?? 0)}
        values={renders}
      />
      <Graph
        title="Cache misses"
        {...rates}
        now={formatNumber(misses.at(-1) ?? 0)}
        values={misses}
      />
      <Graph
        title="Memory cache"
        {...bytes}
        now={formatBytes(cache.memorySizeBytes)}
        more={`of ${formatBytes(cache.memoryMaxBytes)}`}
        values={series((checks) => checks.cache.memorySizeBytes)}
        limit={cache.memoryMaxBytes}
      />
      <Graph
        title="Disk cache"
        {...bytes}
        now={formatBytes(cache.diskSizeBytes)}
        more={`of ${formatBytes(cache.diskMaxBytes)}`}
        values={series((checks) => checks.cache.diskSizeBytes)}
        limit={cache.diskMaxBytes}
      />
      <Graph
        title="Sources being fetched"
        {...counts}
        now={formatNumber(transformQueue.fetching)}
        values={series((checks) => checks.transformQueue.fetching)}
      />
      <Graph
        title="Prewarm queue"
        {...counts}
        now={formatNumber(openJobs(health))}
        more={`sources, ${formatNumber(prewarmQueue.active)} of them running`}
        values={samples.map((sample) => openJobs(sample.health)).filter((jobs) => jobs !== null)}
      />
    </>
  );
}
