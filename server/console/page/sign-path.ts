import type { Project } from '@image-delivery/sdk/client';
import { useMemo } from 'preact/hooks';
import type { Api } from './service.ts';

/** Signs the path of an image. @throws Failure for a key that may not sign */
export type SignPath = (path: string) => Promise<string>;

/** How the paths of a project's images are signed; null for a project or a user without signatures. */
export function useSignPath(api: Api | null, project: Project | null): SignPath | null {
  const id = project?.requireSignedUrls === true ? project.id : null;
  return useMemo(() => {
    if (api === null || id === null) return null;
    return async (path) => {
      // The API takes paths without the prefix that a proxy may add, to which paths of the page are relative.
      const body = { url: path.replace(/^\./, '') };
      const { signedUrl } = await api('POST', `/projects/${id}/signed-urls`, body);
      return `.${signedUrl.url}`;
    };
  }, [api, id]);
}
