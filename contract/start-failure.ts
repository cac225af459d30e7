import { resolve } from 'node:path';

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | null)?.code);

type Causes = Readonly<Record<string, string>>;

const listenCauses: Causes = {
  EADDRINUSE: 'another program listens there; end it, or set another port',
  EADDRNOTAVAIL: 'it is no address of this machine',
  EACCES: 'the user may not listen there; ports below 1024 need a privilege',
  ENOTFOUND: 'no address is known for this name',
  EAI_AGAIN: 'the name could not be looked up',
  EAFNOSUPPORT: 'the system does not support this kind of address',
};

/**
 * Why a listener could not be started, in one sentence: its setting, its address, and the cause.
 * @param variable such as `SERVICE_PORT`; the variable of its host ends in HOST
 */
export function cannotListen(
  variable: `SERVICE_${string}PORT`,
  { host, port }: { host: string; port: number },
  error: unknown,
): string {
  const code = codeOf(error);
  const cause = listenCauses[code] ?? (error instanceof Error ? error.message : code);
  const hostVariable = variable.replace(/PORT$/, 'HOST');
  return `${variable} ${port} on ${host} (${hostVariable}) cannot be used: ${cause} (${code}).`;
}

const user = (): string =>
  process.getuid === undefined ? 'user' : `user ${process.getuid()} of this process`;

const folderCauses = (): Causes => ({
  EROFS: 'its file system is read-only',
  EACCES: `the ${user()} has no permission there`,
  EPERM: `the ${user()} has no permission there`,
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'there is a file with this name',
  EISDIR: 'there is a folder with this name',
  ENOENT: 'its path leads to nothing',
  ELOOP: 'its path has symbolic links that lead in a circle',
  ENAMETOOLONG: 'its path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: "the user's quota of the disk is used up",
  ENOTSUP: 'its file system has no Unix sockets',
  EMFILE: 'this process has too many open files',
});

/**
 * Why the data folder cannot be used, in one sentence that names the folder and the cause. Null for an
 * error that is not of the file system.
 */
export function cannotUseFolder(folder: string, error: unknown): string | null {
  const code = codeOf(error);
  const cause = folderCauses()[code];
  if (cause === undefined) return null;
  const { path } = error as NodeJS.ErrnoException;
  const at = path === undefined || path === resolve(folder) ? '' : ` at ${path}`;
  return `The data folder ${resolve(folder)} (SERVICE_DATA_DIR) cannot be used: ${cause} (${code}${at}).`;
}
