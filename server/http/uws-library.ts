import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { App, us_listen_socket_close } from 'uws-pack';
import { installCommand } from '../../contract/package.ts';
import { digestFailure } from './uws-digests.ts';

export interface UwsLibrary {
  readonly App: typeof App;
  readonly us_listen_socket_close: typeof us_listen_socket_close;
  /** The package and its version. */
  readonly release: string;
}

/** Prefers an installed upstream release to the npm package. */
const packages = ['uWebSockets.js', 'uws-pack'];
/** Folders of the binary in upstream's release and in uws-pack. */
const binaryFolders = ['.', 'dist/bin'];
const ownRequire = createRequire(import.meta.url);

/**
 * Returns the folders of the installed packages. Does not resolve their main files: uws-pack lacks
 * a main file for CommonJS.
 */
function installed(): string[] {
  return packages.flatMap((name) => {
    const folders = (ownRequire.resolve.paths(name) ?? []).map((parent) => join(parent, name));
    return folders.find((folder) => existsSync(folder)) ?? [];
  });
}

function readRelease(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version}`;
}

/**
 * Loads the first package with a binary for this Node and platform, or returns the reason for
 * failing.
 * @param folders package folders, in order of preference
 */
export function loadUws(folders: readonly string[] = installed()): UwsLibrary | string {
  const failure = (reason: string): string =>
    `uWebSockets.js has no native binary for Node ${process.versions.node} on ${process.platform}-${process.arch} that loads: ${reason}`;
  if (process.env['UWS_USE_FALLBACK'] !== undefined) return failure('UWS_USE_FALLBACK is set');
  // Releases read their limit for a request head when they load; the default is 4 KB.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
  const file = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  let reason =
    folders.length === 0
      ? `no package with binaries is installed; on Node 20 and 22, run ${installCommand('uws-pack')}`
      : `${file} does not exist`;
  for (const folder of folders) {
    const paths = binaryFolders.map((binaries) => join(folder, binaries, file));
    for (const path of paths.filter((candidate) => existsSync(candidate))) {
      try {
        const changed = digestFailure(readRelease(folder), path);
        if (changed !== null) {
          reason = changed;
          continue;
        }
        // A binary for another C library exists but does not load.
        const binary = ownRequire(path);
        // Releases before 20.40 hide connections, which could then use up all descriptors.
        const complete = typeof binary.SSLApp === 'function' && 'filter' in binary.App();
        if (complete) return { ...binary, release: readRelease(folder) };
        reason = `${readRelease(folder)} is too old or incomplete`;
      } catch (error) {
        reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      }
    }
  }
  return failure(reason);
}
