import type { Project } from '@image-delivery/sdk/client';
import { useEffect, useState } from 'preact/hooks';
import { forgetProject } from './page-data.ts';
import { type Api, apiWithKey, Failure } from './service.ts';

/** The key's name in session storage, which survives a reload and ends with the tab. */
const storageKey = 'image-delivery-api-key';

const pageSize = 100;

/** Reads the projects in pages, as the page needs them. */
async function* readPages(api: Api) {
  let projects: Project[] = [];
  for await (const project of api.iterate('listProjects')) {
    if (projects.length === pageSize) {
      yield { projects, hasMore: true };
      projects = [];
    }
    projects.push(project);
  }
  yield { projects, hasMore: false };
}

interface State {
  /** Null before a user signs in. */
  readonly api: Api | null;
  readonly pages: ReturnType<typeof readPages> | null;
  /** The loaded projects that the key can access, or null before the first page arrives. */
  readonly projects: readonly Project[] | null;
  /** Whether not all projects are loaded. */
  readonly hasMore: boolean;
  /** The failure of signing in with the key that the tab stored. */
  readonly failure: Failure | null;
}

const signedOut: State = { api: null, pages: null, projects: null, hasMore: false, failure: null };

/** The page's user, with or without an API key. */
export type Session = ReturnType<typeof useSession>;

export function useSession() {
  const [state, setState] = useState(signedOut);

  /** Checks a key by listing its projects. @throws Failure */
  const signIn = async (key: string) => {
    setState(signedOut);
    try {
      const api = apiWithKey(key);
      const pages = readPages(api);
      const { value } = await pages.next();
      sessionStorage.setItem(storageKey, key);
      setState({ ...signedOut, api, pages, ...value });
    } catch (error) {
      const failure = Failure.of(error);
      // Keep the key while the service does not respond: it might be valid.
      if (failure.status === 401) sessionStorage.removeItem(storageKey);
      throw failure;
    }
  };

  useEffect(() => {
    const key = sessionStorage.getItem(storageKey);
    if (key === null) return;
    signIn(key).catch((failure) => setState({ ...signedOut, failure }));
  }, []);

  /** Loads the next page of projects. @throws Failure */
  const loadMore = async () => {
    const { value } = (await state.pages?.next()) ?? {};
    if (!value) return;
    setState(({ projects, ...others }) => {
      const ids = new Set(projects?.map(({ id }) => id));
      const added = value.projects.filter(({ id }) => !ids.has(id));
      return { ...others, projects: [...(projects ?? []), ...added], hasMore: value.hasMore };
    });
  };

  return {
    ...state,
    signIn,
    loadMore,
    signOut() {
      // Also removes the sources and options of the images that this tab has shown.
      sessionStorage.clear();
      setState(signedOut);
    },
    /** Removes a deleted project from the list. */
    removeProject({ id }: Project) {
      forgetProject(id);
      setState(({ projects, ...others }) => ({
        ...others,
        projects: projects?.filter((listed) => listed.id !== id) ?? null,
      }));
    },
    /** Adds or replaces a project in the list. */
    setProject(project: Project) {
      setState(({ projects, ...others }) => {
        const list = projects ?? [];
        const isKnown = list.some(({ id }) => id === project.id);
        const changed = list.map((listed) => (listed.id === project.id ? project : listed));
        return { ...others, projects: isKnown ? changed : [project, ...list] };
      });
    },
  };
}

/**
 * Returns the project, loading it if it is not listed yet: undefined while loading, null if it does
 * not exist.
 */
export function useProject(session: Session, id: string): Project | null | undefined {
  const { api, projects, hasMore, setProject } = session;
  const [missing, setMissing] = useState('');
  const listed = projects?.find((candidate) => candidate.id === id);
  const mayExist = api !== null && listed === undefined && hasMore && id !== '';
  useEffect(() => {
    if (api === null || !mayExist || missing === id) return;
    api.getProject({ projectId: id }).then(setProject, () => setMissing(id));
  }, [api, id, mayExist, missing]);
  if (listed !== undefined) return listed;
  return mayExist && missing !== id ? undefined : null;
}
