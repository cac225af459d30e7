import { useData } from '../api/action.ts';
import { formatBytes, formatDuration, formatNumber } from '../api/format.ts';
import {
  computeState,
  type HealthSample,
  missingWorker,
  openJobs,
  perSecond,
} from '../api/health.ts';
import { useApp } from '../app.ts';
import { type Fact, FactList, Graph, type GraphProps } from '../components/figures.tsx';
import { FailureNotice, Loading, WorkerNotice } from '../components/notice.tsx';
import { Title } from '../components/page-section.tsx';

/** The service's state, queues and caches over the last minutes. */
export function ServicePage() {
  const { samples, failure } = useApp().history;
  return (
    <section class="service">
      <Title text="Service" />
      <FailureNotice failure={failure} />
      {samples.length === 0 && failure === null && <Loading />}
      {samples.length > 0 && (
        <>
          <State />
          <h2>The last five minutes</h2>
          <div class="graphs">
            {describeGraphs(samples).map((graph) => (
              <Graph key={graph.title} {...graph} />
            ))}
          </div>
        </>
      )}
    </section>
  );
}

function State() {
  const { history, session } = useApp();
  const { api } = session;
  // Needs a key. If the request fails, the service's state shows the reason.
  const load = async () => (api === null ? null : api.getServiceVersion());
  const { value: version } = useData(load, [api]);
  const health = history.samples.at(-1)?.health;
  if (health === undefined) return null;
  const { reason, uptimeSeconds, checks } = health;
  const { word } = computeState(history, false);
  const worker = missingWorker(history);
  const isKnown = history.failure === null;
  const store = checks.database.ok ? `${checks.database.latencyMs} ms` : 'no response';
  const facts: Fact[] = [
    ['Status', word, isKnown ? '' : 'last known values'],
    ['Uptime', formatDuration(uptimeSeconds), ''],
    ['Store response time', store, ''],
    ['Refused as overloaded', formatNumber(checks.transformQueue.rejected), ''],
    ['Failed prewarm jobs', formatNumber(checks.prewarmQueue.failed), ''],
  ];
  if (version !== null) {
    facts.push(['Version', `${version.service}, Node ${version.node}`, version.platform]);
  }
  return (
    <>
      {isKnown && reason !== undefined && (
        <p class="notice bad" role="alert">
          {reason}
        </p>
      )}
      {isKnown && worker !== null && <WorkerNotice warning={worker} />}
      <FactList facts={facts} />
    </>
  );
}

const queueGraphs = [
  ['active', 'Transforms running'],
  ['queued', 'Transforms waiting'],
  ['fetching', 'Sources being fetched'],
] as const;
const rateGraphs = [
  ['completed', 'Transforms done'],
  ['misses', 'Cache misses'],
] as const;
const cacheGraphs = [
  ['memory', 'Memory cache'],
  ['disk', 'Disk cache'],
] as const;

function describeGraphs(samples: readonly HealthSample[]): readonly GraphProps[] {
  const { at: firstAt = 0 } = samples[0] ?? {};
  const { at: lastAt = 0 } = samples.at(-1) ?? {};
  const checks = samples.map(({ health }) => health.checks);
  const { transformQueue, cache } = checks.at(-1) ?? {};
  if (transformQueue === undefined || cache === undefined) return [];
  const time = { from: `${formatDuration((lastAt - firstAt) / 1_000)} ago`, to: 'now' };
  const counts = { ...time, unit: 'count', format: formatNumber };
  const { concurrency, maxQueue } = transformQueue;
  const limits = {
    active: { more: `of ${concurrency}`, limit: concurrency },
    queued: { more: `of at most ${maxQueue}` },
    fetching: {},
  };
  const jobs = samples.map(({ health }) => openJobs(health));
  const running = checks.at(-1)?.prewarmQueue.active ?? null;
  return [
    ...queueGraphs.map(([field, title]) => ({
      ...counts,
      title,
      now: formatNumber(transformQueue[field]),
      values: checks.map((check) => check.transformQueue[field]),
      ...limits[field],
    })),
    ...rateGraphs.map(([field, title]) => {
      const values = perSecond(samples, (health) => health.checks.transformQueue[field]);
      const now = formatNumber(values.at(-1) ?? 0);
      return { ...counts, title, unit: 'per second', now, more: 'a second', values };
    }),
    ...cacheGraphs.map(([tier, title]) => ({
      ...time,
      title,
      unit: '',
      format: formatBytes,
      now: formatBytes(cache[`${tier}SizeBytes`]),
      more: `of ${formatBytes(cache[`${tier}MaxBytes`])}`,
      values: checks.map((check) => check.cache[`${tier}SizeBytes`]),
      limit: cache[`${tier}MaxBytes`],
    })),
    {
      ...counts,
      title: 'Prewarm queue',
      now: formatNumber(jobs.at(-1) ?? null),
      more: `sources, ${formatNumber(running)} of them running`,
      values: jobs.filter((count) => count !== null),
    },
  ];
}
