import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { temporaryRoot } from '../../temporary-root.ts';

/** A folder with a short path for a socket; the paths of tap's test folders are too long. */
export function shortFolder(t: Test): string {
  const folder = mkdtempSync(join(temporaryRoot, 'embedded-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
