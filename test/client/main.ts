import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { rootPath } from '../root.ts';
import { checkClients } from './check-clients.ts';
import { lintDocument } from './lint.ts';

/**
 * `npm run test:clients`: lints the OpenAPI document, and calls every operation with generated
 * clients. `npm ci` does not install the packages of `programs/`, because there are 40 and they
 * rarely change. The program installs them in a temporary folder from the npm registry.
 */
const folder = mkdtempSync(join(tmpdir(), 'image-delivery-clients-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
cpSync(join(rootPath, 'test/client/programs'), folder, { recursive: true });
const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
try {
  execFileSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit' });
} catch {
  process.stderr.write('npm install failed: this test needs the network.\n');
  process.exit(1);
}
// A busy machine exceeds tap's default of 30 s.
const timeout = 600_000;
t.setTimeout(timeout);
t.test('writes an OpenAPI document that passes a linter', (t) => lintDocument(t, folder));
t.test('calls every operation with the generated clients', { timeout }, (t) =>
  checkClients(t, folder),
);
