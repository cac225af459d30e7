import { useEffect, useRef, useState } from 'preact/hooks';
import { browsers, useImage, useSignPath } from '../api/image.ts';
import { imagePath, isSource } from '../api/image-url.ts';
import { type Api, Failure } from '../api/service.ts';
import type { ProjectProps } from '../components/page-section.tsx';
import { Preview, PreviewImage, usePreviewSource } from '../components/preview.tsx';

const debounceMs = 400;
const [[modernAccept]] = browsers;
const width = '640';

interface Draft {
  /** The preview layer's name, or null before the first write. */
  readonly name: string | null;
  readonly changes: number;
  readonly failure: Failure | null;
}

/**
 * Stores the form's content as a temporary layer, because images can contain only stored layers.
 * The layer name is unique. The closing form deletes the layer.
 *
 * @param json null if there is no layer
 */
function useDraft(api: Api, path: string, json: string | null): Draft {
  const [draft, setDraft] = useState<Draft>({ name: null, changes: 0, failure: null });
  const name = useRef(`draft-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}`);
  /** The end of the last change, so that changes arrive in order. */
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const isStored = useRef(false);
  useEffect(() => {
    if (json === null) return;
    const store = async () => {
      isStored.current = true;
      try {
        await api('PUT', `${path}/${name.current}`, JSON.parse(json));
        setDraft(({ changes }) => ({ name: name.current, changes: changes + 1, failure: null }));
      } catch (error) {
        setDraft((before) => ({ ...before, failure: Failure.of(error) }));
      }
    };
    const timer = setTimeout(() => {
      last.current = last.current.then(store);
    }, debounceMs);
    return () => clearTimeout(timer);
  }, [api, path, json]);
  useEffect(() => {
    const remove = () => {
      if (!isStored.current) return;
      isStored.current = false;
      // If the deletion fails, the list of layers shows the layer.
      api('DELETE', `${path}/${name.current}`).then(null, () => {});
    };
    // Covers closing the tab.
    addEventListener('pagehide', remove);
    return () => {
      removeEventListener('pagehide', remove);
      void last.current.then(remove);
    };
  }, [api, path]);
  return draft;
}

interface LayerPreviewProps extends Pick<ProjectProps, 'api' | 'project'> {
  readonly layer: object;
}

/** An image that previews the edited layer. */
export function LayerPreview({ api, project, layer }: LayerPreviewProps) {
  const [source, setSource] = usePreviewSource(project);
  const isShown = isSource(source);
  const isComplete = Object.values(layer).some((parts) => 'words' in parts || 'url' in parts);
  const json = isShown && isComplete ? JSON.stringify(layer) : null;
  const draft = useDraft(api, `/projects/${project.id}/layers`, json);
  const options = { w: width, layer: draft.name ?? '' };
  const path = isShown ? imagePath({ source, project: project.id, options }) : null;
  const sign = useSignPath(api, project);
  const image = useImage(path, modernAccept, sign, draft.changes);
  const isDrawn = draft.name !== null && image.loaded?.path === path;
  return (
    <Preview
      project={project}
      source={source}
      onChange={setSource}
      note={
        <>
          While the form is open, the project has the layer <code>draft-…</code> for this preview.
        </>
      }
    >
      <PreviewImage title={isDrawn ? 'With the layer' : 'Without the layer'} state={image} />
      {isShown && draft.failure !== null && (
        <p class="notice over" role="status">
          Not drawn: {draft.failure.message} {draft.failure.hint}
        </p>
      )}
    </Preview>
  );
}
