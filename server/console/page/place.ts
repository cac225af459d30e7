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

/** The place, which changes when a link is followed. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const follow = () => setPlace(readPlace(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return place;
}

/** Puts the state of a place into the URL, so that it can be shared, without a step in the history. */
export function keepPlace(path: string, query: Place['query']): void {
  history.replaceState(null, '', linkTo(path, query));
}
