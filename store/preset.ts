/** A JSON value of an image parameter. */
export type PresetValue = string | number | boolean;

/** By the canonical names of image parameters. */
export type PresetParameters = Readonly<Record<string, PresetValue>>;

/** Preset names are field names in the store, so they contain no `.` or `$`. */
export const presetNamePattern = '^[a-z][a-z0-9_-]{0,39}$';

const pattern = new RegExp(presetNamePattern);
export const isPresetName = (text: string): boolean => pattern.test(text);
