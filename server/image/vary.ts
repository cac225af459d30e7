import type { ProjectSettings } from '../../store/projects.ts';
import type { Options } from './address.ts';
import {
  type ParameterName,
  parameters,
  type VaryingHeader,
  varyingHeaders,
} from './parameters.ts';

/** All request headers that can change an image, as the specification's `Vary`. */
export const fullVary = varyingHeaders.join(', ');

/**
 * Returns the request headers that can change the image of these options, as the parameters' rows
 * name them; '' if every request gets the same image.
 *
 * @param options including the preset's
 * @param usesHints whether client hints set the size
 */
export function neededVary(
  options: Options,
  { autoFormat }: Pick<ProjectSettings, 'autoFormat'>,
  usesHints: boolean,
): string {
  const needed = new Set<VaryingHeader>();
  for (const name of Object.keys(parameters) as ParameterName[]) {
    for (const header of parameters[name].varies({ ...options, autoFormat })) needed.add(header);
  }
  const isRead = (header: VaryingHeader) => usesHints || header === 'Accept';
  return varyingHeaders.filter((header) => needed.has(header) && isRead(header)).join(', ');
}
