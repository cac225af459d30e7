import { nearestName } from '../../contract/suggestion.ts';
import { percentDecode } from '../../contract/url-text.ts';
import type { Operation } from './operation.ts';
import { callbackOperations } from './resources/callbacks.ts';
import { hostOperations } from './resources/hosts.ts';
import { keyOperations } from './resources/keys.ts';
import { layerOperations } from './resources/layers.ts';
import { originOperations } from './resources/origins.ts';
import { presetOperations } from './resources/presets.ts';
import { prewarmOperations } from './resources/prewarms.ts';
import { projectOperations } from './resources/projects.ts';
import { purgeOperations } from './resources/purges.ts';
import {
  configurationOperations,
  domainOperations,
  freshnessOperations,
  limitOperations,
  settingsOperations,
} from './resources/settings.ts';
import { signingOperations } from './resources/signing.ts';
import { urlMeaningOperations } from './resources/url-meaning.ts';
import { urlSecretOperations } from './resources/url-secrets.ts';
import { activityOperations, usageOperations } from './resources/usage.ts';
import { versionOperations } from './service-status.ts';

export const controlPrefix = '/api/sdk/v1';

/** By operation id, in the order of the OpenAPI document. */
export const operations = {
  ...projectOperations,
  ...configurationOperations,
  ...settingsOperations,
  ...prewarmOperations,
  ...purgeOperations,
  ...freshnessOperations,
  ...usageOperations,
  ...activityOperations,
  ...limitOperations,
  ...domainOperations,
  ...hostOperations,
  ...originOperations,
  ...presetOperations,
  ...layerOperations,
  ...keyOperations,
  ...signingOperations,
  ...urlMeaningOperations,
  ...urlSecretOperations,
  ...callbackOperations,
  ...versionOperations,
} as const satisfies Readonly<Record<string, Operation>>;

export interface Match {
  readonly operation: Operation;
  /** The decoded path segments, by name. */
  readonly path: Readonly<Record<string, string>>;
}

const routes = Object.values<Operation>(operations).map((operation) => ({
  operation,
  pattern: new RegExp(
    `^${controlPrefix}${operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`,
  ),
}));

/** Returns the operation of a method and an undecoded path, or null. */
export function findOperation(method: string, path: string): Match | null {
  for (const { operation, pattern } of routes) {
    const match = operation.method === method ? pattern.exec(path) : null;
    if (match === null) continue;
    const segments = Object.entries(match.groups ?? {});
    // A malformed segment stays encoded: no project, preset or layer has such a name.
    const decoded = segments.map(([name, text]) => [name, percentDecode(text) ?? text]);
    return { operation, path: Object.fromEntries(decoded) };
  }
  return null;
}

const ofProject = '/projects/{projectId}';
const partsOfProject = Object.values<Operation>(operations).flatMap(
  ({ path }) => /^\/projects\/\{projectId\}\/([^/]+)$/.exec(path)?.[1] ?? [],
);

/** Returns the path of a project's part that a path might mean, such as `/purges`, or none. */
export function likelyProjectPaths(missing: string): readonly string[] {
  const [, project = ofProject, part = ''] = /^(\/projects\/[^/]+)?\/([^/]+)$/.exec(missing) ?? [];
  const near = nearestName(part, partsOfProject);
  return near === undefined ? [] : [`${project}/${near}`];
}

/** Returns the methods of an undecoded path. */
export function methodsAt(path: string): readonly string[] {
  return routes.flatMap(({ operation, pattern }) => (pattern.test(path) ? operation.method : []));
}
