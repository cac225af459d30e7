import type { Project } from '@image-delivery/sdk/client';
import { useEffect, useState } from 'preact/hooks';
import type { Session } from './session.ts';

/**
 * Returns the project, loading it if it is not listed yet: undefined while loading, null if it does
 * not exist.
 */
export function useProject(session: Session, id: string): Project | null | undefined {
  const { api, projects, next, setProject } = session;
  const [missing, setMissing] = useState('');
  const listed = projects?.find((candidate) => candidate.id === id);
  const mayExist = api !== null && listed === undefined && next !== null && id !== '';
  useEffect(() => {
    if (api === null || !mayExist || missing === id) return;
    api('GET', `/projects/${encodeURIComponent(id)}`).then(
      ({ project }) => setProject(project),
      () => setMissing(id),
    );
  }, [api, id, mayExist, missing, setProject]);
  if (listed !== undefined) return listed;
  return mayExist && missing !== id ? undefined : null;
}
