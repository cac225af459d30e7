import type { Project } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { isSource } from './image-url.ts';
import { TextField } from './labelled.tsx';
import { keepPicture, lastPicture } from './last-picture.ts';
import { Samples } from './samples.tsx';

/** The source image of a project's previews, which the playground then opens with. */
export function usePreviewSource({ id }: Project) {
  const [source, setSource] = useState(() => lastPicture(id).source);
  const choose = (next: string) => {
    setSource(next);
    const { options } = lastPicture(id);
    if (isSource(next)) keepPicture({ project: id, source: next, options });
  };
  return [source, choose] as const;
}

interface PreviewPictureProps {
  readonly project: Project;
  readonly source: string;
  readonly onChange: (source: string) => void;
}

export function PreviewPicture({ project, source, onChange }: PreviewPictureProps) {
  return (
    <>
      <TextField
        label="Image for the preview"
        type="url"
        value={source}
        onChange={(text) => onChange(text.trim())}
        help={`The URL of an image on an allowed host. Example: ${project.origin.replace(/\/$/, '')}/photo.jpg`}
      />
      <Samples project={project.id} near={project.origin} onChoose={onChange} />
    </>
  );
}
