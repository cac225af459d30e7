import type { Project } from '@image-delivery/sdk/client';
import type { ComponentChildren } from 'preact';
import type { ApiDescription } from './openapi.ts';
import type { PageRoute } from './route.ts';
import type { Api } from './service.ts';
import { Title } from './title.tsx';

/** Properties of every project page. */
export interface ProjectProps {
  readonly api: Api;
  readonly project: Project;
  /** The route's query. */
  readonly query: PageRoute['query'];
  readonly description: ApiDescription;
  readonly onChange: (project: Project) => void;
  readonly onDelete: (project: Project) => void;
  /** A warning that no worker takes prewarming and webhook jobs, or null while a worker does. */
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
