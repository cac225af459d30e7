import { isPresetName } from '../../store/preset.ts';
import type { Project, Projects } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { findPreset, presetOptions } from '../image/preset.ts';
import { requireProject } from '../project-cache.ts';
import { presetErrors } from './preset-input.ts';
import { rejectInvalid } from './project-resource.ts';
import type { Preset, PresetInput } from './schemas.ts';

/** Bounded, because all presets are in memory with their project. */
const maxPresets = 100;

export interface PresetsEnvironment {
  readonly projects: Pick<Projects, 'find' | 'setPreset' | 'removePreset'>;
  /** Called right after every change. */
  readonly onChange: (project: Project) => void;
}

/** The presets of a project: a part of it in the store, resources of their own for clients. */
export class PresetResource {
  readonly #environment: PresetsEnvironment;

  constructor(environment: PresetsEnvironment) {
    this.#environment = environment;
  }

  async list(projectId: string): Promise<Preset[]> {
    return presetsOf(await this.#find(projectId));
  }

  async find(projectId: string, name: string): Promise<Preset> {
    return presetBody(await this.#find(projectId), name);
  }

  /** Creates or replaces a preset. */
  async put(projectId: string, name: string, { parameters }: PresetInput): Promise<Preset> {
    requirePresetName(name);
    rejectInvalid(presetErrors(parameters));
    const project = await this.#find(projectId);
    const { fallback } = presetOptions(parameters);
    if (fallback !== undefined && !allows(project, new URL(fallback).hostname)) {
      rejectInvalid(['parameters.fallback must be on an allowed host']);
    }
    const names = Object.keys(project.presets ?? {});
    // Concurrent calls may exceed the limit by a few, which does no harm.
    if (names.length >= maxPresets && !names.includes(name)) {
      rejectInvalid([`a project must not have more than ${maxPresets} presets`]);
    }
    const changed = await this.#environment.projects.setPreset(projectId, name, parameters);
    return presetBody(this.#changed(projectId, changed), name);
  }

  /** Deletes a preset. @returns the remaining presets */
  async remove(projectId: string, name: string): Promise<Preset[]> {
    requirePresetName(name);
    const project = await this.#find(projectId);
    if (!Object.hasOwn(project.presets ?? {}, name)) return presetsOf(project);
    const changed = await this.#environment.projects.removePreset(projectId, name);
    return presetsOf(this.#changed(projectId, changed));
  }

  async #find(projectId: string): Promise<Project> {
    return requireProject(projectId, await this.#environment.projects.find(projectId));
  }

  #changed(projectId: string, project: Project | null): Project {
    const changed = requireProject(projectId, project);
    this.#environment.onChange(changed);
    return changed;
  }
}

function requirePresetName(name: string): void {
  if (isPresetName(name)) return;
  rejectInvalid([
    'the name of a preset must begin with a lower-case letter, and have at most 40 lower-case letters, digits, - and _',
  ]);
}

const presetBody = (project: Project, name: string): Preset => ({
  name,
  parameters: { ...findPreset(project, name) },
});

/** By name. */
const presetsOf = (project: Project): Preset[] =>
  Object.keys(project.presets ?? {})
    .sort()
    .map((name) => presetBody(project, name));
