import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { root, rootPath } from '../root.ts';

/** Advisories with a verdict in docs/contributing/security-model.md: rows of package, version and advisory. */
const page = await readFile(new URL('docs/contributing/security-model.md', root), 'utf8');
const answered = [...page.matchAll(/^\| `([^`]+)` (\S+) \| (?:CVE|GHSA)-/gm)];

interface Audit {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly via: readonly (string | { readonly url: string })[] }>
  >;
}

t.test('names the installed version in the verdict on an advisory', async (t) => {
  const { packages } = JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8'));
  t.not(answered.length, 0);
  for (const [, name = '', version] of answered) {
    t.equal(packages[`node_modules/${name}`]?.version, version, `${name}: read its advisory again`);
  }
});

const script = (name: string) => import(new URL(`scripts/${name}.js`, root).href);

t.test(
  'contains a verdict on every known advisory of an installed or bundled package',
  async (t) => {
    const { buildService } = await script('build');
    const { bundledPackages } = await script('pack');
    const bundled: string[] = bundledPackages(await buildService());
    t.ok(bundled.includes('mongodb'));
    const { packages } = JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8'));
    const isUsed = (name: string) =>
      bundled.includes(name) || packages[`node_modules/${name}`]?.dev !== true;
    const args = ['audit', '--json'];
    const { stdout } = spawnSync('npm', args, { cwd: rootPath, encoding: 'utf8', timeout: 60_000 });
    const { vulnerabilities }: Audit = stdout.startsWith('{') ? JSON.parse(stdout) : {};
    if (vulnerabilities === undefined) {
      t.pass('no advisory', { skip: 'the npm registry does not answer' });
      return;
    }
    for (const [name, { via }] of Object.entries(vulnerabilities)) {
      if (!isUsed(name)) continue;
      for (const advisory of via) {
        // A name refers to that package's advisories, which the list contains too.
        if (typeof advisory === 'string') continue;
        const id = advisory.url.split('/').at(-1) ?? '';
        t.ok(page.includes(id), `${name}: ${advisory.url}`);
      }
    }
  },
);
