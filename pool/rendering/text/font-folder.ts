import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { escapeXml } from '../../escape-xml.ts';
import { unsupported } from '../../formats/errors.ts';
import type { CharacterMap } from './character-map.ts';
import { FontError, type FontFacts, readFont } from './font-file.ts';
import { fontFiles, loadFont } from './fonts.ts';
import { missingCharacters } from './words.ts';

export interface FontFolders {
  /** An existing empty folder of the process. */
  readonly own: string;
  /** The operator's folder, or null. */
  readonly added: string | null;
}

interface PreparedFonts {
  readonly folder: string;
  readonly families: Set<string>;
  /** The files of `addFont`, by family. */
  readonly added: Map<string, string>;
  /** Characters of all fonts. */
  readonly characters: CharacterMap[];
}

let prepared: PreparedFonts | null = null;

/** fontconfig searches the common folder, but not the folder for projects' fonts. */
const commonFolder = (own: string): string => join(own, 'common');
const addedFolder = (own: string): string => join(own, 'added');

/**
 * Returns this process's fonts.
 *
 * @throws Error in a process or on a thread without fonts
 */
export function preparedFonts(): PreparedFonts {
  if (prepared === null) throw new Error('This process has no fonts.');
  return prepared;
}

/**
 * Restricts fontconfig in this process to the packaged fonts and the operator's, so that texts and
 * SVGs render identically on every machine. Omits unusable fonts. Must run before this process uses
 * fontconfig.
 */
export async function prepareFonts({ own, added }: FontFolders): Promise<void> {
  const families = new Set<string>();
  const characters: CharacterMap[] = [];
  for (const folder of [commonFolder(own), addedFolder(own)]) await mkdir(folder);
  for (const [index, path] of (await fontFiles(added)).entries()) {
    const target = join(commonFolder(own), `${String(index).padStart(3, '0')}.ttf`);
    const font = await prepare(path, target).catch(() => null);
    if (font === null) continue;
    families.add(font.family);
    characters.push(font.hasCharacter);
  }
  const file = join(own, 'fonts.conf');
  await writeFile(file, configuration(own));
  Object.assign(process.env, {
    FONTCONFIG_FILE: file,
    // Fontconfig and Pango prefer fonts of the user's language.
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    PANGO_LANGUAGE: 'en',
  });
  prepared = { folder: own, families, added: new Map(), characters };
}

/** More than an image has layers. */
const maxAdded = 20;

const addedFamilies = Array.from({ length: maxAdded }, (_, index) => `project ${index}`);

/**
 * Checks a project's font file, and writes it for `loadAddedFonts`.
 *
 * @returns a family name unique to this font, whatever the file says, so that it replaces no other
 *   font
 * @throws ServiceError source_unsupported
 */
export async function addFont(bytes: Uint8Array): Promise<string> {
  const { folder, families, added, characters } = preparedFonts();
  const family = addedFamilies[added.size];
  if (family === undefined) throw unsupported('The image has too many fonts.');
  const target = join(addedFolder(folder), `${family}.ttf`);
  try {
    const { file, hasCharacter } = await readFont(bytes);
    await writeFile(target, file);
    characters.push(hasCharacter);
  } catch (error) {
    if (!(error instanceof FontError)) throw error;
    throw unsupported(`The font cannot be used: ${error.message}.`);
  }
  added.set(family, target);
  families.add(family);
  return family;
}

/**
 * Lets this process use the added fonts. Call it after drawing all of the image's SVGs: fontconfig
 * takes letters missing from a font from any other font, and keeps fonts for the life of the
 * process.
 */
export async function loadAddedFonts(): Promise<void> {
  for (const [family, fontfile] of preparedFonts().added) {
    await sharp({ text: { text: 'x', font: `${family}, 12`, fontfile } })
      .raw()
      .toBuffer();
  }
}

/** Returns whether all fonts of this process lack a character of the words. */
export function hasMissingGlyphs(words: string): boolean {
  return missingCharacters(words, preparedFonts().characters).length > 0;
}

/** Puts a font into the folder. */
async function prepare(path: string, target: string): Promise<FontFacts> {
  const { bytes, ...font } = await loadFont(path);
  await (font.file === bytes ? symlink(path, target) : writeFile(target, font.file));
  return font;
}

/** Configures no hinting, which depends on the size, and grey edges, because there is no screen. */
const configuration = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${escapeXml(commonFolder(folder))}</dir>
  <cachedir>${escapeXml(folder)}/cache</cachedir>
  <match target="font">
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
  </match>
${addedFamilies.map((family) => renaming(folder, family)).join('')}</fontconfig>
`;

const renaming = (folder: string, family: string): string => `  <match target="scan">
    <test name="file"><string>${escapeXml(join(addedFolder(folder), `${family}.ttf`))}</string></test>
    <edit name="family" mode="assign"><string>${escapeXml(family)}</string></edit>
  </match>
`;
