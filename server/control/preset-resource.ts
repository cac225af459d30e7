import { isPresetName } from '../../store/preset.ts';
import type { Project, Projects } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { findPreset, presetOptions } from '../image/preset.ts';
import { rejectInvalid } from './invalid.ts';
import { NamedResource, type NamedResourceEnvironment } from './named-resource.ts';
import { presetErrors } from './preset-input.ts';
import type { Preset, PresetInput } from './schemas.ts';

export type PresetResource = NamedResource<PresetInput, Preset>;

export interface PresetsEnvironment extends NamedResourceEnvironment {
  readonly projects: Pick<Projects, 'find' | 'setPreset' | 'removePreset'>;
}

/** The presets of projects. */
export function presetResource(environment: PresetsEnvironment): PresetResource {
  const { projects } = environment;
  return new NamedResource(environment, {
    plural: 'presets',
    limit: 100,
    readName: (text) => requirePartName('preset', text),
    checkInput: ({ parameters }) => rejectInvalid(presetErrors(parameters)),
    checkForProject: checkFallback,
    set: (projectId, name, { parameters }) => projects.setPreset(projectId, name, parameters),
    unset: (projectId, name) => projects.removePreset(projectId, name),
    names: ({ presets = {} }) => Object.keys(presets),
    find: (project, name) => ({ name, parameters: { ...findPreset(project, name) } }),
  });
}

function checkFallback(project: Project, { parameters }: PresetInput): void {
  const { fallback } = presetOptions(parameters);
  if (fallback === undefined || allows(project, new URL(fallback).hostname)) return;
  rejectInvalid(['parameters.fallback must be on an allowed host']);
}

/** The name of a preset or a layer. @throws ServiceError invalid_request */
export function requirePartName(kind: 'preset' | 'layer', name: string): string {
  if (isPresetName(name)) return name;
  return rejectInvalid([
    `the name of a ${kind} must begin with a lower-case letter, and have at most 40 lower-case letters, digits, - and _`,
  ]);
}
