import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openApiDocument } from '../../server/control/openapi.ts';

/**
 * A generator for Go. It rejects schemas that it cannot express, and most generators ignore these.
 */
const release = 'github.com/ogen-go/ogen@v1.24.0';

/** Returns the reason why this machine cannot generate the Go client, or false. */
export const goProblem = (): string | false =>
  spawnSync('go', ['version']).status !== 0 && 'go is not installed';

/**
 * Generates a client for Go from the document, and compiles it.
 *
 * @param folder for the module
 */
export async function checkGoClient(t: Test, folder: string): Promise<void> {
  const cwd = join(folder, 'go');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'go.mod'), 'module example.com/client\n\ngo 1.24\n');
  writeFileSync(
    join(cwd, 'openapi.json'),
    JSON.stringify(openApiDocument('https://images.shop.test')),
  );
  const go = (...args: string[]) => {
    const { status, stderr } = spawnSync('go', args, { cwd, encoding: 'utf8' });
    const words = stderr.split('\n').filter((line) => !/^(?:go: |WARN|INFO|\s*$)/.test(line));
    t.equal(status, 0, `go ${args.join(' ')}: ${words.slice(0, 10).join('\n')}`);
  };
  const [path, version] = release.split('@');
  const options = ['--target', 'images', '--package', 'images', 'openapi.json'];
  go('run', `${path}/cmd/ogen@${version}`, ...options);
  go('get', release);
  go('mod', 'tidy');
  go('build', './...');
  const operations = execFileSync('go', ['doc', '-short', './images', 'Invoker'], {
    cwd,
  }).toString();
  for (const name of [
    'GetLiveness',
    'PutProjectLayer',
    'PrewarmProjectImages',
    'UpdateProjectSettings',
  ])
    t.match(operations, `${name}(ctx context.Context`);
}
