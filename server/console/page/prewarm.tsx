import { useState } from 'preact/hooks';
import { defaultsOf } from './controls.tsx';
import { readForm, SchemaFields, type Values } from './form.tsx';
import { type HealthHistory, openJobs } from './health.ts';
import type { Interface } from './interface.ts';
import { FailureNotice } from './notice.tsx';
import { type Api, Failure, type Project, type Receipt } from './service.ts';

interface PrewarmProps {
  readonly api: Api;
  readonly project: Project;
  readonly description: Interface;
  readonly history: HealthHistory;
}

/** An accepted request, with its time and the number of earlier failures. */
interface Accepted {
  readonly receipt: Receipt;
  readonly at: number;
  readonly failedBefore: number;
}

/** Queues images to be rendered before they are requested. */
export function Prewarm({ api, project, description, history }: PrewarmProps) {
  const whole = description.schemas['PrewarmInput'] ?? {};
  // `sources` replaces `src`.
  const { src: _one, ...properties } = whole.properties ?? {};
  const schema = { ...whole, properties, required: ['sources'] };
  const { q = 0, dpr = 0 } = defaultsOf(project);
  const [values, setValues] = useState<Values>({ formats: 'auto' });
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    const failedBefore = history.samples.at(-1)?.health.checks.prewarmQueue.failed ?? 0;
    try {
      const receipt = await api.prewarm(project.id, readForm(schema, values));
      setAccepted({ receipt, at: performance.now(), failedBefore });
      setFailure(null);
    } catch (error) {
      setFailure(Failure.of(error));
    }
  };
  return (
    <section class="card" aria-labelledby="prewarm">
      <h2 id="prewarm">Prewarm</h2>
      <p class="quiet">Renders images before anybody asks for them, when the service has time.</p>
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
    </section>
  );
}

/** The service counts its queue once a second; earlier numbers may be old. */
const countedAfterMs = 1_200;
/** A worker starts a job within seconds. */
const patienceMs = 15_000;

/**
 * The progress of the whole queue: the API does not identify the jobs of a call.
 */
function Progress({ accepted, history }: { accepted: Accepted; history: HealthHistory }) {
  const { receipt, at, failedBefore } = accepted;
  const { sourceCount, variantCount } = receipt;
  const since = history.samples.filter((sample) => sample.at > at + countedAfterMs);
  const queues = since.map(({ health }) => health.checks.prewarmQueue);
  const open = since.map(({ health }) => openJobs(health)).filter((jobs) => jobs !== null);
  const now = open.at(-1);
  const most = Math.max(sourceCount, ...open);
  const done = now === undefined ? 0 : Math.min(most, Math.max(0, most - now));
  const failed = Math.max(0, (queues.at(-1)?.failed ?? failedBefore) - failedBefore);
  const waitedMs = (since.at(-1)?.at ?? at) - at;
  const idle = queues.every(({ active }) => active === 0 || active === null) && done === 0;
  return (
    <div class="progress">
      <label for="prewarm-progress">
        {sourceCount} {sourceCount === 1 ? 'source' : 'sources'}, {variantCount}{' '}
        {variantCount === 1 ? 'image' : 'images'} accepted
      </label>
      <progress id="prewarm-progress" max={most} value={done} />
      <p role="status">
        {now === 0
          ? failed === 0
            ? 'All done.'
            : `Done. In the whole queue ${failed} failed since; the workbench of the worker says why.`
          : `${now ?? sourceCount} in the queue of the whole service.`}
      </p>
      <p class="quiet">This is the whole queue of the service: jobs of other calls count, too.</p>
      {now !== 0 && idle && waitedMs > patienceMs && (
        <p class="notice">
          No worker takes up the jobs. <code>npm start</code> runs one beside the service,{' '}
          <code>npm run start:worker</code> one alone.
        </p>
      )}
    </div>
  );
}
