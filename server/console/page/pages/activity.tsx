import type { ImageFailure, Top } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useData } from '../api/action.ts';
import { countText, formatBytes, formatNumber, formatTime } from '../api/format.ts';
import { useOpenProject } from '../app.ts';
import { type Fact, FactList } from '../components/figures.tsx';
import { ItemList } from '../components/items-page.tsx';
import { FailureText, Loaded, ReloadButton } from '../components/notice.tsx';
import { PageSection } from '../components/page-section.tsx';
import { SourceHelp } from '../components/samples.tsx';
import { Choices } from '../components/snippets.tsx';
import { linkTo } from '../route.ts';

const windows = { 'Last hour': 'hour', 'Last day': 'day' } as const;
const windowTitles = ['Last hour', 'Last day'] as const;

/** A project's latest failures, and its most requested sources and variants. */
export function Activity() {
  const { api, project } = useOpenProject();
  const [chosen, setChosen] = useState<keyof typeof windows>('Last hour');
  const projectId = project.id;
  const load = () =>
    Promise.all([api.getProjectTop({ projectId }), api.listProjectFailures({ projectId })]);
  const activity = useData(load, [api, projectId]);
  return (
    <PageSection
      title="Activity"
      intro="The latest failures and the most requested images, updated every minute. The console's own requests do not count."
    >
      <Loaded data={activity}>
        {([top, failures]) => (
          <>
            <section aria-labelledby="failures">
              <h2 id="failures">Failures</h2>
              <ItemList
                items={failures}
                empty="No failed images in the last day."
                toId={({ code, url }) => `${code} ${url}`}
              >
                {(failure) => <FailureRow failure={failure} project={project.id} />}
              </ItemList>
            </section>
            <section aria-labelledby="requests">
              <h2 id="requests">Requests</h2>
              <Choices
                legend="Window"
                name="window"
                options={windowTitles}
                value={chosen}
                onChange={setChosen}
              />
              <Window {...top[windows[chosen]]} />
            </section>
          </>
        )}
      </Loaded>
      <ReloadButton data={activity} />
    </PageSection>
  );
}

function FailureRow({ failure, project }: { failure: ImageFailure; project: string }) {
  const { status, code, message, hint, source, url, count, at, requestId } = failure;
  const link = playgroundLink(project, failure);
  return (
    <div class="failure-row">
      <p>
        <FailureText {...{ status, code, message, hint }} />
      </p>
      <p>
        <code>{url}</code>
      </p>
      <SourceHelp source={source} project={project} code={code} />
      <p class="quiet">
        {countText(count, 'request')}, the latest at {formatTime(at)}, request id{' '}
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

/** Returns a link to the failed image, or null if parts of its URL are redacted. */
function playgroundLink(project: string, { source, url }: ImageFailure): string | null {
  const path = `/img/${source}`;
  if (source === '' || url.includes('…') || !url.startsWith(path)) return null;
  const options = Object.fromEntries(new URLSearchParams(url.slice(path.length + 1)));
  return linkTo('/', { ...options, project, url: source });
}

const percent = (ratio: number | null): string =>
  ratio === null ? 'none' : `${formatNumber(ratio * 100)}%`;
const time = (ms: number | null): string => (ms === null ? 'none' : `${formatNumber(ms)} ms`);

function toFacts({ hitRatio, missMs, ...window }: Top['hour']): readonly Fact[] {
  return [
    ['Requests', formatNumber(window.requests), `since ${formatTime(window.from)}`],
    ...Object.entries(hitRatio).map(
      ([tier, ratio]) => [`Hit ratio: ${tier}`, percent(ratio), ''] as const,
    ),
    ['Misses', formatNumber(window.misses), ''],
    ['Miss time', time(missMs.p50), `median; 95% take at most ${time(missMs.p95)}`],
    ['Errors', formatNumber(window.errors), ''],
    ['Unsigned', formatNumber(window.unsigned), 'requests without a valid signature'],
    ['Delivered', formatBytes(window.bytes), ''],
    ['Saved', formatBytes(Math.max(0, window.bytesSaved)), 'compared with the originals'],
  ];
}

function Window(window: Top['hour']) {
  if (window.requests === 0) return <p class="card empty">No requests.</p>;
  const sources = window.sources.map(({ source, requests }) => [source, requests] as const);
  const variants = window.variants.map(
    ({ variant, requests }) => [variant || 'no parameters', requests] as const,
  );
  const lists = { 'Most requested sources': sources, 'Most requested variants': variants };
  return (
    <>
      <div class="ten">
        <FactList facts={toFacts(window)} />
      </div>
      {Object.entries(lists).map(([title, names]) => (
        <section key={title}>
          <h3>{title}</h3>
          <ItemList items={names} empty="No images were delivered." toId={([name]) => name}>
            {([name, requests]) => (
              <>
                <code>{name}</code>
                <span class="quiet">{countText(requests, 'request')}</span>
              </>
            )}
          </ItemList>
        </section>
      ))}
    </>
  );
}
