import { useState } from 'preact/hooks';
import { formatBytes, formatChange } from '../api/format.ts';
import { browsers } from '../api/image.ts';
import { type ParameterTexts, toAbsolute } from '../api/image-url.ts';
import { lastPicture } from '../api/last-picture.ts';
import { CopyText } from '../components/copy.tsx';
import { TextField } from '../components/fields.tsx';
import { FailureNotice, Loading } from '../components/notice.tsx';
import type { ProjectProps } from '../components/page-section.tsx';
import { Samples, SourceHelp } from '../components/samples.tsx';
import { Snippets } from '../components/snippets.tsx';
import { type Picture, usePicture } from '../playground/use-picture.ts';
import { linkTo } from '../route.ts';

const options: ParameterTexts = { w: '800' };
const [[accept]] = browsers;

/** Guides a project without deliveries: its first image, URL and code, and the next steps. */
export function FirstPicture({ api, project, description }: ProjectProps) {
  const [text, setText] = useState(() => lastPicture(project.id).source);
  const source = toAbsolute(text, project.origin);
  const { baseUrl } = description;
  const image = { source, project: project.id, options };
  const picture = usePicture({ api, known: project, baseUrl, accept, ...image });
  const code = picture.result.failure?.code ?? '';
  return (
    <>
      <section class="card" aria-labelledby="first-image">
        <h2 id="first-image">Deliver the first image</h2>
        <TextField
          label="Source image URL"
          value={text}
          onChange={(next) => setText(next.trim())}
          help={`A path on ${project.origin}, or the URL of an image on an allowed host. Example: /photo.jpg`}
        />
        <Samples project={project.id} near={project.origin} onChoose={setText} />
        {source !== '' && (
          <div aria-busy={picture.result.loading}>
            <FailureNotice failure={picture.result.failure} />
            <SourceHelp source={source} project={project.id} code={code} />
            <Delivered picture={picture} project={project.id} />
          </div>
        )}
      </section>
      <NextSteps project={project.id} />
    </>
  );
}

interface DeliveredProps {
  readonly picture: Picture;
  readonly project: string;
}

/** Shows the loaded image with its URL and code. */
function Delivered({ picture, project }: DeliveredProps) {
  const { result, information, source, url, snippets } = picture;
  const { loaded, loading } = result;
  if (loaded === null) return loading ? <Loading /> : null;
  const { width, height, bytes, type } = loaded;
  const from = information?.source;
  return (
    <>
      <div class="split first">
        <figure class="preview">
          <img src={loaded.url ?? ''} alt="The first result" width={width} height={height} />
          <figcaption>
            {type}, {width} × {height}, {formatBytes(bytes)}{' '}
            {from !== undefined && (
              <span class="quiet">
                {formatChange(from.bytes, bytes)} from {formatBytes(from.bytes)} as {from.format}
              </span>
            )}
          </figcaption>
        </figure>
        <div>
          <h3>Its URL</h3>
          <CopyText label="URL" text={url} />
          <p>
            <a href={linkTo('/', { project, url: source, ...options })}>
              Change its size, crop and format in the playground
            </a>
          </p>
        </div>
      </div>
      <h3>Code for your pages</h3>
      <Snippets snippets={snippets} isLoading={loading || information === null} />
    </>
  );
}

const steps = [
  ['hosts', 'Allow another host', 'Images in a bucket or on a CDN come from a separate host.'],
  ['prewarm', 'Prewarm images', 'The service renders them before visitors request them.'],
  ['signing', 'Sign URLs', 'Only your backend decides which sizes of which images exist.'],
  [
    'delivery-hosts',
    'Put a CDN in front',
    'Cache a host of your own by the whole URL and by Accept: see docs/cdn.md of the package.',
  ],
] as const;

/** What users of a new project do next. */
function NextSteps({ project }: { readonly project: string }) {
  return (
    <section aria-labelledby="next-steps">
      <h2 id="next-steps">Next steps</h2>
      <ul class="projects next-steps">
        {steps.map(([page, name, reason]) => (
          <li key={page} class="card">
            <h3>
              <a href={linkTo(`/projects/${project}/${page}`)}>{name}</a>
            </h3>
            <p class="quiet">{reason}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
