import { useCallback, useEffect, useState } from 'preact/hooks';
import { Api, Failure, type Project } from './service.ts';

/** Who uses the page: nobody in particular, or a person with an API key. */
export interface Session {
  /** Null when nobody has signed in. */
  readonly api: Api | null;
  /** The projects that the key has access to; null until they are known. */
  readonly projects: readonly Project[] | null;
  readonly failure: Failure | null;
  /** Checks the key by listing its projects. Resolves with whether it is valid. */
  readonly signIn: (key: string) => Promise<boolean>;
  readonly signOut: () => void;
  /** Puts a project that was created or changed into the list. */
  readonly keep: (project: Project) => void;
}

/** Of this tab only: it survives that the page is loaded again, and ends with the tab. */
const storageKey = 'image-delivery-api-key';

type State = Pick<Session, 'api' | 'projects' | 'failure'>;
const nobody: State = { api: null, projects: null, failure: null };

export function useSession(): Session {
  const [state, setState] = useState(nobody);

  const signIn = useCallback(async (key: string) => {
    const api = new Api(key);
    try {
      const projects = await api.projects();
      sessionStorage.setItem(storageKey, key);
      setState({ api, projects, failure: null });
      return true;
    } catch (error) {
      const failure = Failure.of(error);
      // Also while the service does not answer: the key may be right.
      if (failure.status === 401) sessionStorage.removeItem(storageKey);
      setState({ ...nobody, failure });
      return false;
    }
  }, []);

  useEffect(() => {
    const key = sessionStorage.getItem(storageKey);
    if (key !== null) void signIn(key);
  }, [signIn]);

  return {
    ...state,
    signIn,
    signOut: useCallback(() => {
      sessionStorage.removeItem(storageKey);
      setState(nobody);
    }, []),
    keep: useCallback((project: Project) => {
      setState((last) => {
        const others = (last.projects ?? []).filter(({ id }) => id !== project.id);
        const index = (last.projects ?? []).findIndex(({ id }) => id === project.id);
        return { ...last, projects: others.toSpliced(index < 0 ? 0 : index, 0, project) };
      });
    }, []),
  };
}
