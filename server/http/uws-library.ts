import type { App, us_listen_socket_close } from 'uWebSockets.js';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The binary of uWebSockets.js. */
export interface UwsLibrary {
  readonly App: typeof App;
  readonly us_listen_socket_close: typeof us_listen_socket_close;
  /** The package and its version. */
  readonly release: string;
}

/** The first can be replaced by an upstream release; npm installs the second from Node 22 on. */
const packages = ['uWebSockets.js', 'uws-pack'];
const installed = (): string[] => packages.map(mainOf).filter((main) => main !== null);
/** Relative to the main file of upstream's release, uws-pack and @trufflesuite/uws-js-unofficial. */
const binaryFolders = ['./', './bin/', '../binaries/'];
const manifests = ['./package.json', '../package.json'];

/** Absolute paths of the existing files. */
const existing = (main: string, paths: readonly string[]): string[] =>
  paths.map((path) => fileURLToPath(new URL(path, main))).filter((path) => existsSync(path));

function mainOf(name: string): string | null {
  try {
    return import.meta.resolve(name);
  } catch {
    return null;
  }
}

function releaseOf(main: string): string {
  const [manifest = ''] = existing(main, manifests);
  const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'));
  return `${name} ${version}`;
}

/**
 * Loads the first package with a binary for this Node and platform; returns the reason when none works. The
 * module of the package is not used: without a working binary, that of @trufflesuite/uws-js-unofficial
 * prints warnings and falls back to an incomplete implementation in JavaScript that fails on every request.
 * @param mains the URLs of the packages' main files, in order of preference
 */
export function loadUws(mains: readonly string[] = installed()): UwsLibrary | string {
  const failure = (reason: string): string =>
    `uWebSockets.js has no native binary for Node ${process.versions.node} on ${process.platform}-${process.arch} that loads: ${reason}`;
  if (process.env['UWS_USE_FALLBACK'] !== undefined) return failure('UWS_USE_FALLBACK is set');
  // Releases after 20.30 read their limit for a request's head when they are loaded; the default is 4 KB.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
  const file = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  let reason = `${file} does not exist`;
  for (const main of mains) {
    const paths = binaryFolders.map((folder) => folder + file);
    for (const path of existing(main, paths)) {
      try {
        // A binary for another C library exists but does not load.
        const binary = createRequire(main)(path);
        if (typeof binary.SSLApp === 'function') return { ...binary, release: releaseOf(main) };
        reason = 'it is incomplete';
      } catch (error) {
        reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      }
    }
  }
  return failure(reason);
}
