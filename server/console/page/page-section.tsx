import type { Project } from '@image-delivery/sdk/client';
import type { ComponentChildren } from 'preact';
import type { ApiDescription } from './openapi.ts';
import type { PageRoute } from './route.ts';
import type { Api } from './service.ts';
import { Title } from './title.tsx';

/** The properties of each page of a project. */
export interface ProjectProps {
  readonly api: Api;
  readonly project: Project;
  /** Of the route. */
  readonly query: PageRoute['query'];
  readonly description: ApiDescription;
  readonly onChange: (project: Project) => void;
  readonly onDelete: (project: Project) => void;
  /** Says that no worker takes the jobs of prewarming and webhooks; null while one does. */
  readonly missingWorker: string | null;
}

interface PageSectionProps {
  readonly title: string;
  readonly project: Project;
  readonly intro: ComponentChildren;
  readonly children: ComponentChildren;
}

export function PageSection({ title, project, intro, children }: PageSectionProps) {
  return (
    <>
      <Title text={title} of={project.name} />
      <p class="quiet">{intro}</p>
      {children}
    </>
  );
}
