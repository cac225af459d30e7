import { useLayoutEffect, useState } from 'preact/hooks';

/** A page and its state, in the URL fragment: `#/projects/prj_x`, `#/?project=…`. */
export interface PageRoute {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

function parseRoute(hash: string): PageRoute {
  const [path = '/', query = ''] = hash.replace(/^#/, '').split('?', 2);
  return {
    path: path === '' ? '/' : path,
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Returns a link to a route, leaving out empty values. */
export function linkTo(path: string, query: PageRoute['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const text = new URLSearchParams(given).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

/** The current route; does not change if the user keeps unsaved changes. */
export function useRoute(): PageRoute {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  // An effect after the first frame would miss an earlier change.
  useLayoutEffect(() => {
    const onHashChange = ({ oldURL }: HashChangeEvent) => {
      if (confirmLeaving()) setRoute(parseRoute(location.hash));
      // The browser has changed the URL already.
      else history.pushState(null, '', oldURL);
    };
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, []);
  return route;
}

/** Replaces the URL with a route's state, without adding a history entry. */
export function replaceRoute(path: string, query: PageRoute['query']): void {
  // A followed link changes the URL before the page.
  if (parseRoute(location.hash).path !== path) return;
  history.replaceState(null, '', linkTo(path, query));
}

let unsaved = false;

/** Asks the user before discarding unsaved changes. Returns whether to leave the page. */
export function confirmLeaving(): boolean {
  return !unsaved || confirm('You have unsaved changes. Discard them?');
}

/**
 * While `isUnsaved` is true, {@link confirmLeaving} and the browser ask before leaving. A layout
 * effect ends with its form; an effect ends a frame later, and a reload in that frame would ask.
 */
export function useUnsaved(isUnsaved: boolean): void {
  useLayoutEffect(() => {
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

/**
 * Moves the focus when the focused control disappears. Call it in a layout effect, before a frame
 * without focus.
 */
export const moveFocus = (id: string): void => document.getElementById(id)?.focus();
