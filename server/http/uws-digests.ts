import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * SHA-256 of the native files that the service can load from the package uws-pack. The package has
 * neither a signature nor an attestation: docs/contributing/uwebsockets.md explains how to compare
 * the files with their authors'.
 */
const release = 'uws-pack 20.0.8';
const digests: Readonly<Record<string, string>> = {
  'uws_linux_x64_115.node': '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
  'uws_linux_x64_120.node': 'fcb1172837abd2a2dd130f6c6502f18e9b562a5d88bcc3bcdca5e6e710278080',
  'uws_linux_x64_127.node': '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
  'uws_linux_arm64_115.node': 'c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769',
  'uws_linux_arm64_120.node': 'a855e3b7cc0db70ec503e296d50e91d2435db679bc3bd5433d7dae30e93c9b3c',
  'uws_linux_arm64_127.node': 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  'uws_linux_arm_115.node': 'b02d5bc5ab08f040b6b9b818c3eb92806611f77a4dc2439a8f14cac827d498be',
  'uws_linux_arm_120.node': '814b5e63337d5072a85276d5279824b4f9817f8008fcff1f4a4345e2f2c30444',
  'uws_linux_arm_127.node': '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
  'uws_darwin_x64_115.node': '1f2a5c73d9dc3066d39b675b73f2c50eddbc4f270d292a6126ddfe3757c54cf9',
  'uws_darwin_x64_120.node': '3dc10babf35b3ce5d4edc7deaddf912a5a72a0ac7ad52b098dbe430c3c540313',
  'uws_darwin_x64_127.node': 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
  'uws_darwin_arm64_115.node': '5d523bccbe80d3d8fa59422ff81801b8179212b9a8a5da28bff6926a95a65701',
  'uws_darwin_arm64_120.node': '98ffa032aeb84b98d432502738871c5748f6a636536d5705702c4985925a41ae',
  'uws_darwin_arm64_127.node': 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
};

/**
 * Compares a native file with its recorded digest.
 * @param packageRelease package name and version; packages other than uws-pack are the operator's
 *   choice
 * @returns the reason not to load the file, or null
 */
export function digestFailure(packageRelease: string, path: string): string | null {
  const [name] = packageRelease.split(' ');
  if (name !== 'uws-pack') return null;
  if (packageRelease !== release) {
    return `the files of ${packageRelease} are not known to this version; install ${release.replace(' ', '@')}`;
  }
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  return digests[basename(path)] === digest
    ? null
    : `${basename(path)} of ${release} does not match its recorded digest: SHA-256 ${digest}`;
}

/** The native files of uws-pack with a recorded digest. */
export const recordedFiles: readonly string[] = Object.keys(digests);
