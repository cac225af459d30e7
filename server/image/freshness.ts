import { hash } from 'node:crypto';
import type { ImageFreshness } from '../../pool/freshness.ts';
import type { Inputs } from '../../pool/inputs.ts';
import type { Project } from '../../store/projects.ts';
import { keyPrefix } from './key.ts';

/** How an image follows its inputs; null for a project whose images do not. */
export function imageFreshness(
  { _id: project, freshness }: Pick<Project, '_id' | 'freshness'>,
  inputs: Inputs,
): ImageFreshness | null {
  const sourceAge = freshness?.sourceAge ?? null;
  if (sourceAge === null) return null;
  const stateKeys = inputs.map(({ tag, version }) => stateKey(project, tag, version));
  return { sourceAge, stateKeys };
}

/** The cache key of an input's state. It begins as those of images of that source, so that a purge deletes it. */
function stateKey(project: string, tag: string, version: string | null): string {
  const digest = hash('sha256', ['state of an input', project, tag, version ?? ''].join('\n'));
  return keyPrefix(project, tag) + digest.slice(0, 32);
}
