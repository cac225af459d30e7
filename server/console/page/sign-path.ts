import type { Project } from '@image-delivery/sdk/client';
import { useMemo } from 'preact/hooks';
import type { Api } from './service.ts';

/** Signs an image path. @throws Failure if the key has no permission to sign */
export type SignPath = (path: string) => Promise<string>;

/**
 * Returns the signer of a project's image paths, or null if the project or user does not sign URLs.
 */
export function useSignPath(api: Api | null, project: Project | null): SignPath | null {
  const id = project?.requireSignedUrls === true ? project.id : null;
  return useMemo(() => {
    if (api === null || id === null) return null;
    return async (path) => {
      // Page paths are relative to a prefix that a proxy can add; the API takes paths without the
      // prefix.
      const body = { url: path.replace(/^\./, '') };
      const { signedUrl } = await api('POST', `/projects/${id}/signed-urls`, body);
      return `.${signedUrl.url}`;
    };
  }, [api, id]);
}
