import { useLayoutEffect, useState } from 'preact/hooks';
import { moveFocus } from '../route.ts';

/** A text with a button that copies it. */
export function CopyText({ label, text }: { readonly label: string; readonly text: string }) {
  const [message, setMessage] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setMessage('Copied');
    } catch {
      // Without permission: the API needs HTTPS or localhost.
      setMessage('Select the text and copy it');
    }
    setTimeout(() => setMessage(''), 3_000);
  };
  return (
    <div class={text.includes('\n') ? 'copy' : 'copy line'}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section class="code" tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <button type="button" class="small" onClick={copy}>
        Copy<span class="hidden"> {label}</span>
      </button>
      <span class="copied" role="status">
        {message}
      </span>
    </div>
  );
}

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
