import { isPresetName } from '../../store/preset.ts';
import type { Project, Projects } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { findPreset, presetOptions } from '../image/preset.ts';
import { projectNotFound } from '../project-cache.ts';
import { presetFaults } from './preset-input.ts';
import { rejectInvalid } from './project-resource.ts';
import type { Preset, PresetInput } from './schemas.ts';

/** All of them are in memory with the project. */
const maxPresets = 100;

export interface PresetsEnvironment {
  readonly projects: Pick<Projects, 'find' | 'setPreset' | 'removePreset'>;
  /** Called right after every change. */
  readonly onChange: (project: Project) => void;
}

/** The presets of a project: part of it in the store, and a resource of their own for clients. */
export class PresetResource {
  readonly #projects: PresetsEnvironment['projects'];
  readonly #onChange: (project: Project) => void;

  constructor({ projects, onChange }: PresetsEnvironment) {
    this.#projects = projects;
    this.#onChange = onChange;
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
    rejectInvalid(presetFaults(parameters));
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
    const changed = await this.#projects.setPreset(projectId, name, parameters);
    return presetBody(this.#changed(projectId, changed), name);
  }

  /** The presets that are left. */
  async remove(projectId: string, name: string): Promise<Preset[]> {
    requirePresetName(name);
    const project = await this.#find(projectId);
    if (!Object.hasOwn(project.presets ?? {}, name)) return presetsOf(project);
    return presetsOf(this.#changed(projectId, await this.#projects.removePreset(projectId, name)));
  }

  async #find(projectId: string): Promise<Project> {
    const project = await this.#projects.find(projectId);
    if (project === null) throw projectNotFound(projectId);
    return project;
  }

  #changed(projectId: string, project: Project | null): Project {
    if (project === null) throw projectNotFound(projectId);
    this.#onChange(project);
    return project;
  }
}

function requirePresetName(name: string): void {
  if (isPresetName(name)) return;
  rejectInvalid([
    'the name of a preset must begin with a lower-case letter, and have at most 40 lower-case letters, digits, - and _',
  ]);
}

function presetBody(project: Project, name: string): Preset {
  return { name, parameters: { ...findPreset(project, name) } };
}

/** By name. */
function presetsOf(project: Project): Preset[] {
  const names = Object.keys(project.presets ?? {}).sort();
  return names.map((name) => presetBody(project, name));
}
