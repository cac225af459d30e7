import { ServiceError } from '../../contract/errors.ts';
import type { PresetParameters } from '../../store/preset.ts';
import type { Project } from '../../store/projects.ts';
import { type Options, readOptions } from './address.ts';
import { findNamed } from './named-part.ts';
import { type ParameterName, parameters } from './parameters.ts';
import { textOf } from './values.ts';

/** The options of a preset's parameters. @throws ServiceError parameter_invalid */
export function presetOptions(parameters: PresetParameters): Options {
  return readOptions(
    new Map(Object.entries(parameters).map(([name, value]) => [name, textOf(value)])),
  );
}

/** A preset of a project. @throws ServiceError preset_not_found */
export const findPreset = (
  { presets = {} }: Pick<Project, 'presets'>,
  name: string,
): PresetParameters => findNamed('preset', presets, name);

/**
 * The options of a URL and of the preset that it names; the URL takes precedence.
 * @throws ServiceError preset_not_found; parameter_invalid for a preset of an older release
 */
export function withPreset(options: Options, project: Pick<Project, 'presets'>): Options {
  const { preset: name } = options;
  if (name === undefined) return options;
  const named = Object.keys(options) as ParameterName[];
  const preset = parsedPreset(name, findPreset(project, name));
  const replaced = new Set<string>([
    ...named.flatMap((one) => parameters[one].replaces),
    ...sideReplacedByRatio(options, preset),
  ]);
  const kept = Object.entries(preset).filter(([one]) => !replaced.has(one));
  return { ...Object.fromEntries(kept), ...options };
}

/** The side of a preset that follows from another one and the `ar` of the URL. */
function sideReplacedByRatio({ ar, w, h }: Options, preset: Options): readonly ParameterName[] {
  if (ar === undefined) return [];
  if (h !== undefined) return ['w'];
  return w === undefined && preset.w === undefined ? [] : ['h'];
}

/** Each preset is parsed once for each revision of its project. */
const parsedPresets = new WeakMap<PresetParameters, Options>();

function parsedPreset(name: string, preset: PresetParameters): Options {
  const known = parsedPresets.get(preset);
  if (known !== undefined) return known;
  try {
    const options = presetOptions(preset);
    parsedPresets.set(preset, options);
    return options;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, `The preset ${name} must be changed: ${error.message}`);
  }
}
