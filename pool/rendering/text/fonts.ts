import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CharacterMap } from './character-map.ts';
import { FontError, readFont } from './font-file.ts';

export interface FontFamily {
  readonly name: string;
  /** Multiples of 100, ascending. */
  readonly weights: readonly number[];
}

/** The packaged family: Latin, Greek, Cyrillic and Hebrew, upright, under the OFL 1.1. */
export const packagedFamily: FontFamily = {
  name: 'Open Sans',
  weights: [300, 400, 500, 600, 700, 800],
};

const packagedName = /^open-sans-[a-z-]+-wght-normal\.woff2$/;
const addedName = /^[^.].*\.(?:ttf|otf|woff2)$/i;

/** Maximum files in the operator's folder. */
export const maxAddedFonts = 200;

/** Returns the packaged family's files, a file per script. */
async function packagedFiles(): Promise<readonly string[]> {
  const manifest = import.meta.resolve('@fontsource-variable/open-sans/package.json');
  return filesIn(join(dirname(fileURLToPath(manifest)), 'files'), packagedName);
}

/** Returns the paths of matching files, sorted, so that two processes find the same font first. */
async function filesIn(folder: string, name: RegExp): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((fileName) => name.test(fileName)).sort();
  return names.map((fileName) => join(folder, fileName));
}

/**
 * Returns the paths of all fonts: the packaged family, and the operator's folder.
 *
 * @param added the operator's folder, or null
 * @throws Error if the folder cannot be read
 * @throws FontError if the folder contains too many files
 */
export async function fontFiles(added: string | null): Promise<readonly string[]> {
  const more = added === null ? [] : await filesIn(added, addedName);
  if (more.length > maxAddedFonts) {
    throw new FontError(`${added} has ${more.length} fonts; at most ${maxAddedFonts} are allowed`);
  }
  return [...(await packagedFiles()), ...more];
}

/** Reads a font file. @throws FontError naming the file if it is unusable */
export async function loadFont(path: string) {
  try {
    const bytes = await readFile(path);
    return { bytes, ...(await readFont(bytes)) };
  } catch (error) {
    if (!(error instanceof FontError)) throw error;
    throw new FontError(`The font ${basename(path)} cannot be used: ${error.message}.`);
  }
}

/** The fonts that every text can use. */
export interface InstalledFonts {
  /** The packaged family first. */
  readonly families: readonly FontFamily[];
  /** The characters of each font file. */
  readonly characters: readonly CharacterMap[];
}

/**
 * Reads the packaged family and the operator's fonts.
 *
 * @param added the operator's folder, or null
 * @throws FontError naming the first unusable file
 */
export async function readInstalledFonts(added: string | null): Promise<InstalledFonts> {
  const weights = new Map<string, Set<number>>();
  const characters: CharacterMap[] = [];
  for (const path of await fontFiles(added)) {
    const font = await loadFont(path);
    const known = weights.get(font.family) ?? new Set();
    for (const weight of font.weights) known.add(weight);
    weights.set(font.family, known);
    characters.push(font.hasCharacter);
  }
  const families = [...weights].map(([name, known]) => ({
    name,
    weights: [...known].sort((a, b) => a - b),
  }));
  return { families, characters };
}
