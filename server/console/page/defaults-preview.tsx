import { useState } from 'preact/hooks';
import { bytesInWords } from './figures.ts';
import type { Values } from './form.tsx';
import { imagePath, isSource, type Options } from './image-url.ts';
import { browsers, type ImageState, useImage } from './load-image.ts';
import { FailureNotice } from './notice.tsx';
import { Samples } from './samples.tsx';
import type { Project } from './service.ts';

interface PreviewProps {
  readonly project: Project;
  readonly values: Values;
  readonly saved: Values;
}

const [[, modern]] = browsers;
/** An unusual aspect ratio makes the fit visible. */
const box = { w: 320, h: 240 };

/**
 * The parameters equivalent to these defaults. The watermark has none, so its changes show when saved.
 */
export function optionsOf(values: Values): Options {
  const { defaultQuality = '', defaultDpr = '1', defaultFit = '', maxWidth = '' } = values;
  const widest = Number(maxWidth) > 0 ? Number(maxWidth) / (Number(defaultDpr) || 1) : box.w;
  return {
    w: String(Math.max(1, Math.floor(Math.min(box.w, widest)))),
    h: String(box.h),
    q: defaultQuality,
    fit: defaultFit,
    dpr: defaultDpr,
    fmt: values['autoFormat'] === 'true' ? 'auto' : '',
  };
}

/** A picture with the saved defaults and with those of the form. */
export function DefaultsPreview({ project, values, saved }: PreviewProps) {
  const [source, setSource] = useState('');
  const path = (from: Values) =>
    isSource(source) ? imagePath({ source, project: project.id, options: optionsOf(from) }) : null;
  const before = useImage(path(saved), modern);
  const after = useImage(path(values), modern);
  return (
    <div class="preview">
      <div class="field">
        <label for="preview-source">Picture for the preview</label>
        <input
          id="preview-source"
          type="url"
          placeholder={`${project.origin.replace(/\/$/, '')}/photo.jpg`}
          value={source}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setSource(event.currentTarget.value.trim())}
        />
      </div>
      <Samples project={project.id} near={project.origin} onChoose={setSource} />
      <Shown title="Saved" state={before} />
      <Shown title="With your changes" state={after} />
      <p class="quiet">The watermark changes when it is saved.</p>
    </div>
  );
}

function Shown({ title, state: { loaded, failure } }: { title: string; state: ImageState }) {
  return (
    <figure class="shown">
      {loaded?.url != null && (
        <img src={loaded.url} alt={title} width={loaded.width} height={loaded.height} />
      )}
      <FailureNotice failure={failure} />
      <figcaption>
        {title}
        {loaded !== null && (
          <span class="quiet">
            {' '}
            {loaded.type}, {bytesInWords(loaded.bytes)}, {loaded.width} × {loaded.height}
          </span>
        )}
      </figcaption>
    </figure>
  );
}
