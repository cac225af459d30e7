import type { ComponentChildren } from 'preact';
import type { ApiDescription } from './openapi.ts';
import type { Api, Project } from './service.ts';

/** The properties of the page of a project and of its sections. */
export interface ProjectProps {
  readonly api: Api;
  readonly project: Project;
  readonly description: ApiDescription;
  readonly onChange: (project: Project) => void;
}

interface ProjectSectionProps {
  /** Of the heading, which can have the focus. */
  readonly id: string;
  readonly title: string;
  readonly intro: ComponentChildren;
  readonly children: ComponentChildren;
}

export function ProjectSection({ id, title, intro, children }: ProjectSectionProps) {
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      <p class="quiet">{intro}</p>
      {children}
    </section>
  );
}
