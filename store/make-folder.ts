import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents. `mkdir` with `recursive` reports a read-only file
 * system as ENOENT, and never returns for a path below /proc (Node 20 to 24).
 * @param mode of the folder itself
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const absolute = resolve(path);
  try {
    return await makeOne(absolute, mode);
  } catch (error) {
    const parent = dirname(absolute);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === absolute) throw error;
    await makeFolder(parent);
  }
  await makeOne(absolute, mode);
}

async function makeOne(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const isFolder = async () => (await stat(path)).isDirectory();
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await isFolder())) throw error;
  }
}

/** Creates a folder that only this user can access. */
export async function makePrivateFolder(path: string): Promise<void> {
  const mode = 0o700;
  await makeFolder(path, mode);
  try {
    await chmod(path, mode);
  } catch (error) {
    const isOwn = async () => (await stat(path)).uid === process.getuid?.();
    if (!isNotSupported(error) || !(await isOwn())) throw error;
  }
}

/** Whether a file system lacks modes or links, such as vfat, exFAT, SMB and some FUSE. */
export function isNotSupported(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return /^(?:EPERM|ENOSYS|ENOTSUP|EOPNOTSUPP)$/.test(code);
}
