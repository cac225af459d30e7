import type { Project } from '@image-delivery/sdk/client';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ApiDescription } from '../api/openapi.ts';
import type { Api } from '../api/service.ts';
import { linkTo, type PageRoute } from '../route.ts';

/** The id of a page's heading, which receives the focus when the page opens. */
export const titleId = 'title';

/** @param of the page's subject, for the window title */
export function Title({ text, of = '' }: { readonly text: string; readonly of?: string }) {
  useEffect(() => {
    const parts = new Set([text, of, 'Image delivery']);
    document.title = [...parts].filter((part) => part !== '').join(' · ');
  }, [text, of]);
  return (
    <h1 id={titleId} tabIndex={-1}>
      {text}
    </h1>
  );
}

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

interface UnknownPageProps {
  readonly message?: string;
  /** A route. */
  readonly back: string;
  /** The target page's name. */
  readonly to: string;
}

/** A page that does not exist, with a link back. */
export function UnknownPage({ back, to, ...props }: UnknownPageProps) {
  const { message = 'Check the address; the page may have moved.' } = props;
  return (
    <section class="card narrow">
      <Title text="Page not found" />
      <p>{message}</p>
      <p>
        <a href={linkTo(back)}>Go to {to}</a>
      </p>
    </section>
  );
}
