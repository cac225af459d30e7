import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useOpenProject } from '../app.ts';
import { linkTo } from '../route.ts';

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

interface PageSectionProps {
  readonly title: string;
  readonly intro: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page of the open project. */
export function PageSection({ title, intro, children }: PageSectionProps) {
  const { project } = useOpenProject();
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
