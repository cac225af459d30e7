/** A list of strings without white space. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
