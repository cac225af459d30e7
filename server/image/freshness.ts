import type { ImageFreshness } from '../../pool/freshness.ts';
import type { Input, Inputs } from '../../pool/inputs.ts';
import type { Project } from '../../store/projects.ts';
import { cacheKey, imageGeneration } from './key.ts';

/** How an image follows its inputs; null for a project whose images do not. */
export function imageFreshness(project: Project, inputs: Inputs): ImageFreshness | null {
  const sourceAge = project.freshness?.sourceAge ?? null;
  if (sourceAge === null) return null;
  return { sourceAge, stateKeys: inputs.map((input) => stateKey(project, input)) };
}

/** The cache key of an input's state, which is purged with the images of the input. */
function stateKey(project: Project, { tag, version }: Input): string {
  const origin = {
    project: project._id,
    inputs: [{ tag }],
    generation: imageGeneration(project, [{ tag }]),
  } as const;
  return cacheKey(origin, ['state of an input', project._id, tag, version ?? '']);
}
