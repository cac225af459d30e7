import { useEffect } from 'preact/hooks';

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
