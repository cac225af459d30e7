import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { formatBytes } from '../api/format.ts';
import type { ImageState } from '../api/image.ts';
import { exampleSource, isSource } from '../api/image-url.ts';
import { keepPicture, lastPicture } from '../api/page-data.ts';
import { useOpenProject } from '../app.ts';
import { TextField } from './fields.tsx';
import { FailureNotice, Loading } from './notice.tsx';
import { Samples } from './samples.tsx';

/** Returns the project's preview source. The playground then opens with it. */
export function usePreviewSource(id: string) {
  const [source, setSource] = useState(() => lastPicture(id).source);
  const choose = (next: string) => {
    setSource(next);
    const { options } = lastPicture(id);
    if (isSource(next)) keepPicture({ project: id, source: next, options });
  };
  return [source, choose] as const;
}

interface PreviewProps {
  readonly source: string;
  readonly onChange: (source: string) => void;
  /** Shown below the image; '' by default. */
  readonly fault?: string;
  readonly note: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Images that show a form's effect and stay in view next to it. */
export function Preview({ source, onChange, fault = '', note, children }: PreviewProps) {
  const { project } = useOpenProject();
  return (
    <div class="result">
      <section class="stage" aria-label="Preview">
        <div class="box previews">
          {isSource(source) ? children : <p class="quiet">The preview needs an image.</p>}
        </div>
        {fault !== '' && (
          <p class="notice" role="status">
            {fault}
          </p>
        )}
      </section>
      <div class="more">
        <TextField
          label="Image for the preview"
          value={source}
          onChange={(text) => onChange(text.trim())}
          help={`A URL on an allowed host, or a path on the project's site. Example: ${exampleSource(project.origin)}`}
        />
        <Samples project={project.id} near={project.origin} onChoose={onChange} />
        <p class="quiet">{note}</p>
      </div>
    </div>
  );
}

interface PreviewImageProps {
  readonly title: string;
  readonly state: ImageState;
}

export function PreviewImage({ title, state: { loaded, loading, failure } }: PreviewImageProps) {
  return (
    <figure aria-busy={loading}>
      {loading && loaded === null && <Loading />}
      {loaded?.url != null && <img src={loaded.url} alt={title} />}
      <FailureNotice failure={failure} />
      <figcaption>
        {title}
        {loaded !== null && (
          <span class="quiet">
            {' '}
            {loaded.type}, {formatBytes(loaded.bytes)}, {`${loaded.width} × ${loaded.height}`}
          </span>
        )}
      </figcaption>
    </figure>
  );
}
