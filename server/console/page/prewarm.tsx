import { useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { defaultsOf } from './controls.tsx';
import { SchemaFields } from './form.tsx';
import { countOf } from './format.ts';
import { type HealthHistory, openJobs } from './health.ts';
import { FailureNotice } from './notice.tsx';
import { type ProjectProps, ProjectSection } from './project-section.tsx';
import { bodyOf, fieldsOf, type Values } from './schema.ts';
import type { PrewarmReceipt } from './service.ts';

/** An accepted request, with its time and the number of earlier failures. */
interface Accepted {
  readonly receipt: PrewarmReceipt;
  readonly at: number;
  readonly failedBefore: number;
}

/** Queues images to be rendered before they are requested. */
export function Prewarm({ api, project, description, history }: ProjectProps) {
  const input = description.schemas['PrewarmInput'] ?? {};
  // `sources` replaces `src`.
  const { src: _, ...properties } = input.properties ?? {};
  const schema = { ...input, properties, required: ['sources'] };
  const { q = 0, dpr = 0 } = defaultsOf(project);
  const [values, setValues] = useState<Values>({ formats: 'auto' });
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const { run, failure } = useAction();
  const submit = async (event: Event) => {
    event.preventDefault();
    const failedBefore = history.samples.at(-1)?.health.checks.prewarmQueue.failed ?? 0;
    await run(async () => {
      const body = bodyOf(fieldsOf(schema), values);
      const { prewarm } = await api('POST', `/projects/${project.id}/prewarm`, body);
      setAccepted({ receipt: prewarm, at: performance.now(), failedBefore });
      return '';
    });
  };
  return (
    <ProjectSection
      id="prewarm"
      title="Prewarm"
      intro="Renders images before clients request them, when the service has time."
    >
      <form aria-labelledby="prewarm" onSubmit={submit}>
        <div class="fields">
          <SchemaFields
            {...{ schema, values }}
            onChange={setValues}
            unset={{ quality: q, dpr }}
            placeholders={{
              sources: `${project.origin.replace(/\/$/, '')}/photo.jpg`,
              widths: '400',
            }}
          />
        </div>
        <FailureNotice failure={failure} />
        <button type="submit" class="primary">
          Prewarm
        </button>
      </form>
      {accepted !== null && <Progress {...{ accepted, history }} />}
    </ProjectSection>
  );
}

/** The service counts its queue once a second; earlier numbers may be old. */
const countedAfterMs = 1_200;
/** A worker starts a job within seconds. */
const workerTimeoutMs = 15_000;

/** The progress of the whole queue: the API does not identify the jobs of a call. */
function Progress({ accepted, history }: { accepted: Accepted; history: HealthHistory }) {
  const { receipt, at, failedBefore } = accepted;
  const { sourceCount, variantCount } = receipt;
  const since = history.samples.filter((sample) => sample.at > at + countedAfterMs);
  const queues = since.map(({ health }) => health.checks.prewarmQueue);
  const open = since.map(({ health }) => openJobs(health)).filter((jobs) => jobs !== null);
  const now = open.at(-1);
  const most = Math.max(sourceCount, ...open);
  const done = now === undefined ? 0 : most - now;
  const failed = Math.max(0, (queues.at(-1)?.failed ?? failedBefore) - failedBefore);
  const waitedMs = (since.at(-1)?.at ?? at) - at;
  const isIdle = done === 0 && !queues.some(({ active }) => active !== null && active > 0);
  const succeeded =
    failed === 0
      ? 'All done.'
      : `Done. Failed jobs in the whole queue since: ${failed}. The worker's workbench has the reasons.`;
  return (
    <div class="progress">
      <label for="prewarm-progress">
        {countOf(sourceCount, 'source')}, {countOf(variantCount, 'image')} accepted
      </label>
      <progress id="prewarm-progress" max={most} value={done} />
      <p role="status">
        {now === 0 ? succeeded : `${now ?? sourceCount} in the queue of the whole service.`}
      </p>
      <p class="quiet">The queue also has jobs of other calls.</p>
      {now !== 0 && isIdle && waitedMs > workerTimeoutMs && (
        <p class="notice">
          No worker takes the jobs. <code>npm start</code> runs one with the service,{' '}
          <code>npm run start:worker</code> runs only a worker.
        </p>
      )}
    </div>
  );
}
