import { ServiceError } from '../../contract/errors.ts';
import { nearestName } from '../../contract/suggestion.ts';

/**
 * A preset or a layer of a project.
 * @throws ServiceError preset_not_found, layer_not_found
 */
export function findNamed<T>(
  kind: 'preset' | 'layer',
  parts: Readonly<Record<string, T>>,
  name: string,
): T {
  const found = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (found !== undefined) return found;
  const near = nearestName(name, Object.keys(parts));
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  const shown = name.slice(0, 40).toWellFormed();
  throw new ServiceError(`${kind}_not_found`, `The project has no ${kind} ${shown}.${hint}`);
}
