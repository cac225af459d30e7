import type { Usage } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction, useLoading } from '../api/action.ts';
import { formatBytes, formatNumber, formatTime } from '../api/format.ts';
import { CopyText } from '../components/copy.tsx';
import { type Fact, FactList } from '../components/facts.tsx';
import { Graph } from '../components/graph.tsx';
import { FailureNotice, Loading } from '../components/notice.tsx';
import { PageSection, type ProjectProps } from '../components/page-section.tsx';
import { linkTo } from '../route.ts';
import { FirstPicture } from './first-picture.tsx';

/**
 * A project's id, and its usage in the last 30 days, or instructions to deliver its first image.
 */
export function Overview(props: ProjectProps) {
  const { api, project } = props;
  const { id, name, origin, createdAt, requireSignedUrls } = project;
  const [usage, setUsage] = useState<Usage | null>(null);
  const { run, failure } = useAction();
  useLoading(run, async () => setUsage((await api('GET', `/projects/${id}/usage`)).usage), [
    api,
    id,
  ]);
  return (
    <PageSection
      title={name}
      project={project}
      intro={
        <>
          {origin}, created {formatTime(createdAt)}.{' '}
          {requireSignedUrls && 'Its images need signed URLs. '}
          <a href={linkTo('/', { project: id })}>Open in the playground</a>
        </>
      }
    >
      <div class="narrow">
        <CopyText label="project id" text={id} />
      </div>
      <FailureNotice failure={failure} />
      {usage === null && failure === null && <Loading />}
      {usage !== null &&
        (usage.total.bytes === 0 ? <FirstPicture {...props} /> : <LastDays usage={usage} />)}
    </PageSection>
  );
}

function LastDays({ usage }: { readonly usage: Usage }) {
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <p class="quiet">Of the last 30 days (UTC), at most a minute behind.</p>
      <Graphs {...usage} />
      <div class="ten">
        <FactList facts={toFacts(usage.total)} />
      </div>
    </section>
  );
}

const shown = [
  ['Requests', 'requests', formatNumber, 'per day'],
  ['Delivered', 'bytes', formatBytes, 'per day'],
  ['Renders', 'renders', formatNumber, 'per day'],
] as const;

function Graphs({ days }: Pick<Usage, 'days'>) {
  return (
    <div class="graphs">
      {shown.map(([title, field, format, unit]) => {
        const values = days.map((day) => day[field]);
        return (
          <Graph
            key={field}
            {...{ title, unit, format, values }}
            from={formatTime(days[0]?.date ?? '')}
            to="today"
            now={format(values.at(-1) ?? 0)}
            more="today"
          />
        );
      })}
    </div>
  );
}

function toFacts({ hits, misses, errors, ...total }: Usage['total']): readonly Fact[] {
  const tiers = Object.entries(hits).map(
    ([tier, count]) => [`Hits: ${tier}`, formatNumber(count), ''] as const,
  );
  return [
    ...shown.map(([title, field, format]) => [title, format(total[field]), ''] as const),
    ...tiers,
    ['Misses', formatNumber(misses), ''],
    ['Errors', formatNumber(errors), ''],
    ['Render time', `${formatNumber(total.renderSeconds)} s`, ''],
    ['Prewarmed', formatNumber(total.background.renders), 'renders'],
  ];
}
