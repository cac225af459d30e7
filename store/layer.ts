import { isPresetName, type PresetValue, presetNamePattern } from './preset.ts';

/** The JSON values of a layer's fields, by name. Absent ones have their defaults. */
export type LayerFields = Readonly<Record<string, PresetValue>>;

/** A layer as a project keeps it: an image or a text. */
export interface StoredLayer {
  readonly image?: LayerFields;
  readonly text?: LayerFields;
}

/** The names of layers follow the rules of those of presets. */
export const layerNamePattern = presetNamePattern;
export const isLayerName = isPresetName;
