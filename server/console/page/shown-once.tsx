import { useLayoutEffect } from 'preact/hooks';
import { CopyText } from './copy.tsx';
import { moveFocus } from './route.ts';

const id = 'shown-once';

interface ShownOnceProps {
  readonly title: string;
  readonly secret: string;
}

/** A newly created secret. It receives the focus. */
export function ShownOnce({ title, secret }: ShownOnceProps) {
  useLayoutEffect(() => moveFocus(id), [secret]);
  return (
    <section id={id} class="card" tabIndex={-1} aria-label={title}>
      <h2>{title}</h2>
      <p>Copy it now: it is not shown again.</p>
      <CopyText label="secret" text={secret} />
    </section>
  );
}
