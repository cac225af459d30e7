import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { outputOf, root } from './run.js';

/** What a release has beside its packages. */

/**
 * Writes the list of the packages that the service consists of, bundled or not, as CycloneDX.
 * npm takes it from the lock file, and needs a version of the service itself.
 */
export function writeSbom(file, version) {
  const temporary = fs.mkdtempSync(join(tmpdir(), 'image-delivery-sbom-'));
  // npm takes the name of the service from its folder.
  const folder = join(temporary, 'image-delivery');
  const copy = (path, change) => {
    const value = JSON.parse(fs.readFileSync(join(root, path), 'utf8'));
    change(value);
    fs.mkdirSync(dirname(join(folder, path)), { recursive: true });
    fs.writeFileSync(join(folder, path), JSON.stringify(value));
  };
  try {
    for (const path of ['package.json', 'sdk/package.json']) {
      copy(path, (manifest) => {
        manifest.version = version;
        delete manifest.private;
      });
    }
    copy('package-lock.json', (lock) => {
      for (const path of ['', 'sdk']) lock.packages[path].version = version;
    });
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
    const options = [...args, '--omit', 'dev', '--package-lock-only'];
    fs.writeFileSync(file, `${outputOf('npm', options, { cwd: folder })}\n`);
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

/** Writes the digests of files beside them, as `sha256sum --check` reads them. */
export function writeChecksums(file, paths) {
  const lines = paths.map((path) => {
    const digest = createHash('sha256').update(fs.readFileSync(path)).digest('hex');
    return `${digest}  ${basename(path)}\n`;
  });
  fs.writeFileSync(file, lines.join(''));
}
