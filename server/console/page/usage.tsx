import { useEffect, useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { type Fact, FactList } from './facts.tsx';
import { SchemaFields } from './form.tsx';
import { formatBytes, formatNumber } from './format.ts';
import { Graph } from './graph.tsx';
import { FailureNotice } from './notice.tsx';
import { type ProjectProps, ProjectSection } from './project-section.tsx';
import { bodyOf, fieldsOf, type Values, valuesOf } from './schema.ts';
import type { UsageBody, UsageFigures } from './service.ts';

/** A project's usage in the last 30 days, and its limits for a day. */
export function Usage(props: ProjectProps) {
  const { api, project } = props;
  const [usage, setUsage] = useState<UsageBody | null>(null);
  const { run, failure } = useAction();
  useEffect(() => {
    void run(async () => {
      setUsage((await api('GET', `/projects/${project.id}/usage`)).usage);
      return '';
    });
  }, [api, project.id]);
  return (
    <ProjectSection
      id="usage"
      title="Usage"
      intro="Of the last 30 days (UTC), at most a minute behind."
    >
      <FailureNotice failure={failure} />
      {usage !== null && (
        <>
          <Graphs {...usage} />
          <FactList facts={factsOf(usage.total)} />
        </>
      )}
      <Limits {...props} />
    </ProjectSection>
  );
}

const shown = [
  ['Requests', 'requests', formatNumber],
  ['Delivered', 'bytes', formatBytes],
  ['Renders', 'renders', formatNumber],
] as const;

function Graphs({ days }: Pick<UsageBody, 'days'>) {
  return (
    <div class="graphs">
      {shown.map(([title, field, format]) => {
        const values = days.map((day) => day[field]);
        return (
          <Graph key={field} {...{ title, values }} now={format(values.at(-1) ?? 0)} more="today" />
        );
      })}
    </div>
  );
}

function factsOf({ hits, misses, errors, ...total }: UsageFigures): readonly Fact[] {
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

function Limits({ api, project, description }: ProjectProps) {
  const path = `/projects/${project.id}/limits`;
  const schema = { properties: description.schemas['LimitsInput']?.properties ?? {} };
  const fields = fieldsOf(schema);
  /** Null until the limits are loaded: saving empty fields would remove limits. */
  const [values, setValues] = useState<Values | null>(null);
  const { run, busy, message, failure } = useAction();
  const show = (limits: Readonly<Record<string, unknown>>) => setValues(valuesOf(fields, limits));
  useEffect(() => {
    void run(async () => {
      show((await api('GET', path)).limits);
      return '';
    });
  }, [api, path]);
  const save = async (event: Event) => {
    event.preventDefault();
    if (values === null) return;
    await run(async () => {
      const none = Object.fromEntries(fields.map(([name]) => [name, null]));
      show((await api('PUT', path, { ...none, ...bodyOf(fields, values) })).limits);
      return 'The limits are saved. Beyond them, images that are not cached are refused.';
    });
  };
  return (
    <form aria-label="Limits for a day" onSubmit={save}>
      {values !== null && (
        <div class="fields">
          <SchemaFields {...{ schema, values }} onChange={setValues} placeholders={noLimits} />
        </div>
      )}
      <FailureNotice failure={failure} />
      <button type="submit" class="primary" disabled={busy || values === null}>
        Save limits
      </button>
      <p role="status" class="quiet">
        {message}
      </p>
    </form>
  );
}

const noLimits = { rendersPerDay: 'no limit', bytesPerDay: 'no limit' };
