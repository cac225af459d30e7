import { hash } from 'node:crypto';
import { keyTagDigits } from '../../pool/cache/object-key.ts';
import type { ImageFreshness } from '../../pool/freshness.ts';
import type { Input, Inputs } from '../../pool/inputs.ts';
import { rendererVersion } from '../../pool/rendering/version.ts';
import { isUsed, plainVariant, type Variant } from '../../pool/variant.ts';
import {
  computeGeneration,
  groupLength,
  type PurgeGenerations,
  purgeGroup,
} from '../../store/generations.ts';
import type { Project } from '../../store/projects.ts';

/** The variant's fields in name order, with their plain values as text. */
const plainForms = Object.entries(plainVariant)
  .map(([name, value]) => [name as keyof Variant, JSON.stringify(value)] as const)
  .sort(([a], [b]) => (a < b ? -1 : 1));

/** Returns a variant as text, equal for all requests that produce the same bytes and warnings. */
function canonicalForm(variant: Variant): string {
  let text = '';
  for (const [name, plain] of plainForms) {
    // Most options have their plain value and are left out.
    if (variant[name] === plainVariant[name] || !isUsed(variant, name)) continue;
    const value = JSON.stringify(variant[name]);
    if (value !== plain) text += `${text === '' ? '' : '&'}${name}=${value}`;
  }
  return text;
}

type PurgedInput = Pick<Input, 'tag' | 'folders'>;

/** The facts that bind a key to its purges: project, inputs and generation. */
interface KeyOrigin {
  readonly project: string;
  /** The input that lists the image, then the others. */
  readonly inputs: readonly [PurgedInput, ...PurgedInput[]];
  readonly generation: number;
}

/**
 * Returns a cache key: 16 hexadecimal digits for the project, 16 for the first input, the
 * generation, the groups of its folders and of the other inputs, and 32 hexadecimal digits for
 * everything that determines the bytes. The key alone shows whether a purge covers its image, except
 * a purge of another input's folder.
 */
export function cacheKey(
  { project, inputs, generation }: KeyOrigin,
  parts: readonly (string | number)[],
): string {
  const [{ tag, folders }, ...others] = inputs;
  const prefix = projectDigits(project) + tag.slice(0, keyTagDigits);
  const groups = [...folders, ...others.map((input) => input.tag)].map(purgeGroup).join('');
  const digest = hash('sha256', parts.join('\n')).slice(0, 32);
  return `${prefix}-${generation.toString(36)}-${groups}-${digest}`;
}

export function variantKey(
  { project, inputs, generation }: KeyOrigin & { readonly inputs: Inputs },
  variant: Variant,
  renderVersion = rendererVersion,
): string {
  const [{ identity, version }] = inputs;
  const form = canonicalForm(variant);
  const parts: (string | number)[] = [renderVersion, project, identity.href, form];
  if (version !== null) parts.push(version);
  return cacheKey({ project, inputs, generation }, parts);
}

/** Returns the first digits of a project's keys. */
export const projectDigits = (project: string): string =>
  hash('sha256', project).slice(0, keyTagDigits);

/** Returns the generation of images made from these inputs. */
export const imageGeneration = (project: PurgeGenerations, inputs: readonly PurgedInput[]) =>
  computeGeneration(
    project,
    inputs.flatMap(({ tag, folders }) => [tag, ...folders].map(purgeGroup)),
  );

/** Matches every cache key; at most 30 groups, because a file's name has at most 255 bytes. */
export const keyPattern = /^[0-9a-f]{32}-[0-9a-z]{1,11}-(?:[fg][0-9a-f]{4}){0,30}-[0-9a-f]{32}$/;

const groupPattern = new RegExp(`.{${groupLength}}`, 'g');

/** Returns whether a key belongs to an older generation of its project's images. */
export function isPurgedKey(project: PurgeGenerations, key: string): boolean {
  const [prefix = '', generation = '', others = '', digest] = key.split('-');
  if (digest === undefined) return true;
  const groups = [purgeGroup(prefix.slice(keyTagDigits)), ...(others.match(groupPattern) ?? [])];
  return Number.parseInt(generation, 36) < computeGeneration(project, groups);
}

/** Returns how an image follows its inputs, or null if the project's images do not. */
export function imageFreshness(project: Project, inputs: Inputs): ImageFreshness | null {
  const sourceAge = project.freshness?.sourceAge ?? null;
  if (sourceAge === null) return null;
  return { sourceAge, stateKeys: inputs.map((input) => stateKey(project, input)) };
}

/** Returns the cache key of an input's state. A purge of the input's images covers it. */
function stateKey(project: Project, input: Input): string {
  const { tag, version } = input;
  const generation = imageGeneration(project, [input]);
  const origin = { project: project._id, inputs: [input], generation } as const;
  return cacheKey(origin, ['state of an input', project._id, tag, version ?? '']);
}
