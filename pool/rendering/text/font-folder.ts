import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IsolationRequired } from '../../formats/isolation.ts';
import { fontFiles, loadFont } from './fonts.ts';
import { escapeMarkup } from './words.ts';

/** Where the fonts of a process are. */
export interface FontFolders {
  /** An existing empty folder of the process. */
  readonly own: string;
  /** The operator's folder; null for none. */
  readonly added: string | null;
}

/** The fonts of this process. */
interface PreparedFonts {
  readonly folder: string;
  readonly families: ReadonlySet<string>;
}

let prepared: PreparedFonts | null = null;

/**
 * The fonts of this process.
 *
 * @throws IsolationRequired in a process or on a thread without them
 */
export function preparedFonts(): PreparedFonts {
  if (prepared === null) throw new IsolationRequired();
  return prepared;
}

/**
 * Lets fontconfig find the packaged fonts and those of the operator in this process, and no others, so that a
 * text has the same pixels on every machine. Fonts that cannot be used are omitted. It must run before anything
 * in this process uses fontconfig.
 */
export async function prepareFonts({ own, added }: FontFolders): Promise<void> {
  const families = new Set<string>();
  for (const [index, path] of (await fontFiles(added)).entries()) {
    const family = await prepare(path, join(own, `${String(index).padStart(3, '0')}.ttf`)).catch(
      () => null,
    );
    if (family !== null) families.add(family);
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
  prepared = { folder: own, families };
}

/** Puts a font into the folder. @returns its family */
async function prepare(path: string, target: string): Promise<string> {
  const { bytes, family, compressed } = await loadFont(path);
  if (!compressed) {
    await symlink(path, target);
  } else {
    const { default: decompress } = await import('wawoff2/decompress.js');
    await writeFile(target, await decompress(bytes));
  }
  return family;
}

/** Without hinting, which depends on the size, and with grey edges, because there is no screen. */
const configuration = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${escapeMarkup(folder)}</dir>
  <cachedir>${escapeMarkup(folder)}/cache</cachedir>
  <match target="font">
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
  </match>
</fontconfig>
`;
