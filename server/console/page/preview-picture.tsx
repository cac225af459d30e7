import type { Project } from '@image-delivery/sdk/client';
import { TextField } from './labelled.tsx';
import { Samples } from './samples.tsx';

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
