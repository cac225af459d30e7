import type { ImageFailure, Top } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useAction, useLoading } from '../api/action.ts';
import { countText, formatBytes, formatNumber, formatTime } from '../api/format.ts';
import { type Fact, FactList } from '../components/facts.tsx';
import { FailureNotice, FailureText, Loading } from '../components/notice.tsx';
import { PageSection, type ProjectProps } from '../components/page-section.tsx';
import { SourceHelp } from '../components/samples.tsx';
import { linkTo } from '../route.ts';

interface Activity {
  readonly top: Top;
  readonly failures: readonly ImageFailure[];
}

const windows = { hour: 'Last hour', day: 'Last day' } as const;
type WindowName = keyof typeof windows;
const windowNames = Object.keys(windows) as WindowName[];

/** A project's latest failures, and its most requested sources and variants. */
export function ActivityPage({ api, project }: ProjectProps) {
  const [activity, setActivity] = useState<Activity | null>(null);
  const [chosen, setChosen] = useState<WindowName>('hour');
  const [reloads, setReloads] = useState(0);
  const { run, busy, failure } = useAction();
  const path = `/projects/${project.id}`;
  const load = async () => {
    const [{ top }, { failures }] = await Promise.all([
      api('GET', `${path}/top`),
      api('GET', `${path}/failures`),
    ]);
    setActivity({ top, failures });
  };
  useLoading(run, load, [api, path, reloads]);
  return (
    <PageSection
      title="Activity"
      project={project}
      intro="The last failures and the most requested images, at most a minute behind, without the requests of this console."
    >
      <FailureNotice failure={failure} />
      {activity === null && failure === null && <Loading />}
      {activity !== null && (
        <>
          <Failures failures={activity.failures} project={project.id} />
          <section aria-labelledby="requests">
            <h2 id="requests">Requests</h2>
            <fieldset class="choices">
              <legend class="hidden">Window</legend>
              <div>
                {windowNames.map((name) => (
                  <label key={name}>
                    <input
                      type="radio"
                      name="window"
                      checked={name === chosen}
                      onChange={() => setChosen(name)}
                    />{' '}
                    {windows[name]}
                  </label>
                ))}
              </div>
            </fieldset>
            <Window {...activity.top[chosen]} />
          </section>
        </>
      )}
      <button type="button" aria-disabled={busy} onClick={() => !busy && setReloads(reloads + 1)}>
        Load again
      </button>
    </PageSection>
  );
}

function Failures({ failures, project }: Pick<Activity, 'failures'> & { project: string }) {
  return (
    <section aria-labelledby="failures">
      <h2 id="failures">Failures</h2>
      {failures.length === 0 ? (
        <p class="card empty">No image has failed in the last day.</p>
      ) : (
        <ul class="rows card failures">
          {failures.map((failure) => (
            <li key={`${failure.code} ${failure.url}`}>
              <FailureRow failure={failure} project={project} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function FailureRow({ failure, project }: { failure: ImageFailure; project: string }) {
  const { status, code, message, hint, source, url, count, at, requestId } = failure;
  const link = playgroundLink(project, failure);
  return (
    <div>
      <p>
        <FailureText {...{ status, code, message, hint }} />
      </p>
      <p>
        <code>{url}</code>
      </p>
      <SourceHelp source={source} project={project} code={code} />
      <p class="quiet">
        {countText(count, 'request')}, the last one at {formatTime(at)}, request id{' '}
        <code>{requestId}</code>
        {link !== null && (
          <>
            {' · '}
            <a href={link}>Open in the playground</a>
          </>
        )}
      </p>
    </div>
  );
}

/** Returns a link to the failed image, or null if parts of its URL are hidden. */
function playgroundLink(project: string, { source, url }: ImageFailure): string | null {
  const path = `/img/${source}`;
  if (source === '' || url.includes('…') || !url.startsWith(path)) return null;
  const options = Object.fromEntries(new URLSearchParams(url.slice(path.length + 1)));
  return linkTo('/', { ...options, project, url: source });
}

const percent = (ratio: number | null): string =>
  ratio === null ? 'none' : `${formatNumber(ratio * 100)} %`;
const time = (ms: number | null): string => (ms === null ? 'none' : `${formatNumber(ms)} ms`);

function toFacts({ hitRatio, missMs, ...window }: Top[WindowName]): readonly Fact[] {
  return [
    ['Requests', formatNumber(window.requests), `since ${formatTime(window.from)}`],
    ...Object.entries(hitRatio).map(
      ([tier, ratio]) => [`Hit ratio: ${tier}`, percent(ratio), ''] as const,
    ),
    ['Misses', formatNumber(window.misses), ''],
    ['Time of a miss', time(missMs.p50), `median; 95% take at most ${time(missMs.p95)}`],
    ['Errors', formatNumber(window.errors), ''],
    ['Unsigned', formatNumber(window.unsigned), 'requests without a valid signature'],
    ['Delivered', formatBytes(window.bytes), ''],
    ['Saved', formatBytes(Math.max(0, window.bytesSaved)), 'compared with the originals'],
  ];
}

function Window(window: Top[WindowName]) {
  if (window.requests === 0) {
    return <p class="card empty">No requests.</p>;
  }
  const sources = window.sources.map(({ source, requests }) => [source, requests] as const);
  const variants = window.variants.map(
    ({ variant, requests }) => [variant || 'no parameters', requests] as const,
  );
  return (
    <>
      <div class="ten">
        <FactList facts={toFacts(window)} />
      </div>
      <Names title="Most requested sources" names={sources} />
      <Names title="Most requested variants" names={variants} />
    </>
  );
}

interface NamesProps {
  readonly title: string;
  readonly names: readonly (readonly [name: string, requests: number])[];
}

function Names({ title, names }: NamesProps) {
  return (
    <>
      <h3>{title}</h3>
      {names.length === 0 ? (
        <p>None had an image.</p>
      ) : (
        <ol class="rows card">
          {names.map(([name, requests]) => (
            <li key={name}>
              <code>{name}</code>
              <span class="quiet">{countText(requests, 'request')}</span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
