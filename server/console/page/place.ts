import { useEffect, useState } from 'preact/hooks';

/** What the page shows, as the part of its URL after `#` says: `#/projects/prj_x`, `#/?project=…`. */
export interface Place {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export function readPlace(hash: string): Place {
  const [path = '/', query = ''] = hash.replace(/^#/, '').split('?', 2);
  return {
    path: path === '' ? '/' : path,
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** A link to a place; values that are '' are left out. */
export function linkTo(path: string, query: Place['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const text = new URLSearchParams(given).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

/** The place, which changes when a link is followed, unless what is not saved is to be kept. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const follow = ({ oldURL }: HashChangeEvent) => {
      if (mayLeave()) setPlace(readPlace(location.hash));
      // The browser has gone already.
      else history.pushState(null, '', oldURL);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return place;
}

/** Puts the state of a place into the URL, so that it can be shared, without a step in the history. */
export function keepPlace(path: string, query: Place['query']): void {
  history.replaceState(null, '', linkTo(path, query));
}

/** Whether something on the page was changed and not saved. */
let unsaved = false;

/** Asks before unsaved changes are lost. @returns whether they may be */
export function mayLeave(): boolean {
  return !unsaved || confirm('There are changes that are not saved. Leave them?');
}

/** While `isUnsaved` is true, {@link mayLeave} asks, and so does the browser before it leaves the page. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    unsaved = true;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => {
      unsaved = false;
      removeEventListener('beforeunload', ask);
    };
  }, [isUnsaved]);
}

/** For when the control that had the focus is gone. */
export const focusMain = (): void => document.getElementById('main')?.focus();
