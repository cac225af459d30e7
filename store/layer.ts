import type { PresetValue } from './preset.ts';

/** A layer's JSON fields by name. Absent fields take their defaults. */
export type LayerFields = Readonly<Record<string, PresetValue>>;

/** A layer as a project keeps it: an image or a text. */
export interface StoredLayer {
  readonly image?: LayerFields;
  readonly text?: LayerFields;
}
