/** The families of fonts that texts may have. The first one is the default. */
export const fontFamilies = (): readonly string[] => ['Noto Sans'];

/** The file of a family; null for a family of the system. */
export const fontFile = (_family: string): string | null => null;
