import type { Usage } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { useData } from '../api/action.ts';
import { formatBytes, formatNumber, formatTime } from '../api/format.ts';
import { browsers } from '../api/image.ts';
import { toAbsolute } from '../api/image-url.ts';
import { lastPicture } from '../api/page-data.ts';
import { useOpenProject } from '../app.ts';
import { CopyText } from '../components/copy.tsx';
import { TextField } from '../components/fields.tsx';
import { type Fact, FactList, Graph } from '../components/figures.tsx';
import { Loaded } from '../components/notice.tsx';
import { PageSection } from '../components/page-section.tsx';
import { PreviewImage } from '../components/preview.tsx';
import { Samples, SourceHelp } from '../components/samples.tsx';
import { Snippets } from '../components/snippets.tsx';
import { usePicture } from '../playground/use-picture.ts';
import { linkTo } from '../route.ts';

/**
 * A project's id, and its usage in the last 30 days, or instructions to deliver its first image.
 */
export function Overview() {
  const { api, project } = useOpenProject();
  const { id, name, origin, createdAt, requireSignedUrls } = project;
  const usage = useData(() => api.getProjectUsage({ projectId: id }), [api, id]);
  return (
    <PageSection
      title={name}
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
      <Loaded data={usage}>
        {(loaded) => (isUnused(loaded) ? <FirstPicture /> : <LastDays usage={loaded} />)}
      </Loaded>
    </PageSection>
  );
}

/** Returns true if nobody, not even the console, has received an image. */
const isUnused = ({ total }: Usage): boolean => total.bytes + total.background.bytes === 0;

const shown = [
  ['Requests', 'requests', formatNumber],
  ['Delivered', 'bytes', formatBytes],
  ['Renders', 'renders', formatNumber],
] as const;

function LastDays({ usage: { days, total } }: { readonly usage: Usage }) {
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <p class="quiet">
        Last 30 days (UTC), updated every minute. The console's own requests do not count.
      </p>
      <div class="graphs">
        {shown.map(([title, field, format]) => {
          const values = days.map((day) => day[field]);
          return (
            <Graph
              key={field}
              {...{ title, format, values }}
              unit="per day"
              from={formatTime(days[0]?.date ?? '')}
              to="today"
              now={format(values.at(-1) ?? 0)}
              more="today"
            />
          );
        })}
      </div>
      <div class="ten">
        <FactList facts={toFacts(total)} />
      </div>
    </section>
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
    ['Prewarming, console', formatNumber(total.background.renders), 'renders'],
  ];
}

const options = { w: '800' } as const;
const [[accept]] = browsers;

/** Guides a project without deliveries: its first image, URL and code, and the next steps. */
function FirstPicture() {
  const { project } = useOpenProject();
  const { id, origin } = project;
  const [text, setText] = useState(() => lastPicture(id).source);
  const source = toAbsolute(text, origin);
  const picture = usePicture({
    known: project,
    accept,
    source,
    project: id,
    options,
  });
  const { result, information, url, snippets } = picture;
  return (
    <>
      <section class="card" aria-labelledby="first-image">
        <h2 id="first-image">Deliver the first image</h2>
        <TextField
          label="Source image URL"
          value={text}
          onChange={(next) => setText(next.trim())}
          help={`A path on ${origin}, or the URL of an image on an allowed host. Example: /photo.jpg`}
        />
        <Samples project={id} near={origin} onChoose={setText} />
        {source !== '' && (
          <div class="split first">
            <div class="preview">
              <PreviewImage title="The first result" state={result} />
              <SourceHelp source={source} project={id} code={result.failure?.code ?? ''} />
            </div>
            {result.loaded !== null && (
              <div>
                <h3>Its URL</h3>
                <CopyText label="URL" text={url} />
                <p>
                  <a href={linkTo('/', { project: id, url: source, ...options })}>
                    Change its size, crop and format in the playground
                  </a>
                </p>
              </div>
            )}
          </div>
        )}
        {result.loaded !== null && (
          <>
            <h3>Code for your pages</h3>
            <Snippets snippets={snippets} isLoading={result.loading || information === null} />
          </>
        )}
      </section>
      <section aria-labelledby="next-steps">
        <h2 id="next-steps">Next steps</h2>
        <ul class="projects next-steps">
          {steps.map(([page, name, reason]) => (
            <li key={page} class="card">
              <h3>
                <a href={linkTo(`/projects/${id}/${page}`)}>{name}</a>
              </h3>
              <p class="quiet">{reason}</p>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

const steps = [
  ['hosts', 'Allow another host', 'Images in a bucket or on a CDN come from another host.'],
  ['prewarm', 'Prewarm images', 'Render images before visitors request them.'],
  ['signing', 'Sign URLs', 'Let only your backend decide which images and sizes exist.'],
  [
    'delivery-hosts',
    'Put a CDN in front',
    'Cache images on your own host, keyed by the whole URL and the Accept header: see docs/cdn.md in the package.',
  ],
] as const;
