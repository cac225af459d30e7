/** A JSON value of an image parameter. */
export type PresetValue = string | number | boolean;

/** By the canonical names of image parameters. */
export type PresetParameters = Readonly<Record<string, PresetValue>>;

/** Preset and layer names are field names in the store, so they contain no `.` or `$`. */
export const partNamePattern = '^[a-z][a-z0-9_-]{0,39}$';

const pattern = new RegExp(partNamePattern);
export const isPartName = (text: string): boolean => pattern.test(text);
