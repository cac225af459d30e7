import { useEffect } from 'preact/hooks';

/** The id of the heading of a page, which gets the focus when the page is opened. */
export const titleId = 'title';

/** @param of what the page is about, for the title of the window */
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
