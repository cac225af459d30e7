import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { OriginEntry } from '../contract/origins.ts';
import { FontError } from '../pool/rendering/text/font-file.ts';
import { readInstalledFonts } from '../pool/rendering/text/fonts.ts';
import { findErrorCode } from '../pool/source/fetch-errors.ts';

/** Returns why an origin's folder is unreadable, or null if all folders are readable. */
export async function originFolderFailure(entries: readonly OriginEntry[]): Promise<string | null> {
  for (const { host, target } of entries) {
    if (target.kind !== 'folder') continue;
    const failure = await findFailure(target.folder);
    if (failure !== null) {
      return `SERVICE_ORIGINS: the folder ${target.folder} of ${host} cannot be used: ${failure}.`;
    }
  }
  return null;
}

async function findFailure(folder: string): Promise<string | null> {
  try {
    if (!(await stat(folder)).isDirectory()) return 'it is not a folder';
    await access(folder, constants.R_OK | constants.X_OK);
    return null;
  } catch (error) {
    const code = findErrorCode(error) ?? 'unknown';
    return code === 'ENOENT' ? `it does not exist (${code})` : `it cannot be read (${code})`;
  }
}

/** Returns why the operator's fonts are unusable, or null if all are usable. */
export async function fontFolderFailure(folder: string | null): Promise<string | null> {
  if (folder === null) return null;
  try {
    await readInstalledFonts(folder);
    return null;
  } catch (error) {
    if (error instanceof FontError) return `SERVICE_FONTS: ${error.message}`;
    return `SERVICE_FONTS: the folder ${folder} cannot be read (${findErrorCode(error) ?? 'unknown'}).`;
  }
}
