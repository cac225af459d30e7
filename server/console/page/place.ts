import { useEffect, useState } from 'preact/hooks';

/** The route in the fragment of the URL: `#/projects/prj_x`, `#/?project=…`. */
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

/** A link to a route, without values that are ''. */
export function linkTo(path: string, query: Place['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const text = new URLSearchParams(given).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

/** The current route; does not change if the user keeps unsaved changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const follow = ({ oldURL }: HashChangeEvent) => {
      if (mayLeave()) setPlace(readPlace(location.hash));
      // The browser has changed the URL already.
      else history.pushState(null, '', oldURL);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return place;
}

/** Replaces the URL with the state of a route, without an entry in the history. */
export function keepPlace(path: string, query: Place['query']): void {
  history.replaceState(null, '', linkTo(path, query));
}

/** Whether the page has unsaved changes. */
let unsaved = false;

/** Asks before unsaved changes are lost. @returns the user's consent */
export function mayLeave(): boolean {
  return !unsaved || confirm('There are changes that are not saved. Leave them?');
}

/** While `isUnsaved` is true, {@link mayLeave} and the browser ask before leaving. */
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

/** Moves the focus when the focused control is removed. */
export const focusMain = (): void => document.getElementById('main')?.focus();
