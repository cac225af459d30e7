import { hash } from 'node:crypto';
import type { ImageFreshness } from '../../pool/freshness.ts';
import type { ImageTags } from '../../pool/image.ts';
import type { Project } from '../../store/projects.ts';
import { keyPrefix } from './key.ts';

/**
 * How an image follows its source; null for a project whose images do not.
 *
 * @param version of the source; null for none
 */
export function imageFreshness(
  { freshness }: Project,
  { project, source, watermark }: ImageTags,
  version: string | null,
): ImageFreshness | null {
  const sourceAge = freshness?.sourceAge ?? null;
  if (sourceAge === null) return null;
  return {
    sourceAge,
    sourceKey: stateKey(project, source, version),
    watermarkKey: watermark === null ? null : stateKey(project, watermark, null),
  };
}

/** The cache key of a source's state. It begins as those of the source's images, so that a purge deletes it. */
function stateKey(project: string, tag: string, version: string | null): string {
  const digest = hash('sha256', ['source state', project, tag, version ?? ''].join('\n'));
  return keyPrefix(project, tag) + digest.slice(0, 32);
}
