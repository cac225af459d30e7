import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { digestFailure, recordedFiles } from '../../../server/http/uws-digests.ts';
import { loadUws } from '../../../server/http/uws-library.ts';
import { rootPath } from '../../root.ts';

const { platform, arch, versions } = process;
const file = `uws_${platform}_${arch}_${versions.modules}.node`;
const installed = ['uWebSockets.js', 'uws-pack/dist/bin']
  .map((folder) => join(rootPath, 'node_modules', folder, file))
  .find((path) => existsSync(path));

type AddBinary = (path: string) => Promise<void>;
const working: AddBinary = (path) => symlink(installed ?? '', path);
const broken: AddBinary = (path) => writeFile(path, 'of another C library');

/** Creates a package like the existing ones; resolves with its folder. */
async function layOut(
  within: string,
  { name, folder }: { name: string; folder: string },
  addBinary: AddBinary,
): Promise<string> {
  const root = join(within, name);
  const binary = join(root, folder, file);
  await mkdir(dirname(binary), { recursive: true });
  await writeFile(join(root, 'package.json'), JSON.stringify({ name, version: '1.2.3' }));
  await addBinary(binary);
  return root;
}

const upstream = { name: 'upstream', folder: '.' };
const pack = { name: 'pack', folder: 'dist/bin' };

for (const layout of [upstream, pack]) {
  t.test(
    `finds a binary as in ${layout.name}`,
    { skip: installed === undefined && `${file} is not installed` },
    async (t) => {
      const uws = loadUws([await layOut(t.testdir(), layout, working)]);
      if (typeof uws === 'string') return t.fail(uws);
      t.equal(uws.release, `${layout.name} 1.2.3`);
      t.type(uws.App, 'function');
      return undefined;
    },
  );
}

t.test(
  'skips a package if its binary does not load',
  { skip: installed === undefined && `${file} is not installed` },
  async (t) => {
    const folder = t.testdir();
    const packages = [await layOut(folder, upstream, broken)];
    t.match(loadUws(packages), / that loads: (?!there is no)./);
    packages.push(await layOut(folder, pack, working));
    t.match(loadUws(packages), { release: 'pack 1.2.3' });
  },
);

const unchanged = join(rootPath, 'node_modules/uws-pack');
const { version } = JSON.parse(await readFile(join(unchanged, 'package.json'), 'utf8'));

t.test('rejects a file of uws-pack with unrecorded bytes', async (t) => {
  const folder = t.testdir();
  const changed = async (path: string) => {
    const bytes = await readFile(installed ?? join(unchanged, 'package.json'));
    // The file still loads: no loader reads past the sections.
    await writeFile(path, Buffer.concat([bytes, Buffer.from('0')]));
  };
  const name = 'uws-pack';
  const own = await layOut(folder, { name, folder: 'dist/bin' }, changed);
  t.match(
    loadUws([own]),
    /the files of uws-pack 1\.2\.3 are not known .*install uws-pack@20\.0\.8$/,
  );
  await writeFile(join(own, 'package.json'), JSON.stringify({ name, version }));
  t.match(
    loadUws([own]),
    `${file} of uws-pack ${version} does not match its recorded digest: SHA-256 `,
  );
});

t.test('matches the installed files of uws-pack to the recorded digests', async (t) => {
  const platforms = ['linux_x64', 'linux_arm64', 'linux_arm', 'darwin_x64', 'darwin_arm64'];
  // ABIs of Node 20, 21 and 22.
  const names = platforms.flatMap((platformName) =>
    [115, 120, 127].map((abi) => `uws_${platformName}_${abi}.node`),
  );
  t.same(recordedFiles, names);
  for (const name of names) {
    t.equal(digestFailure(`uws-pack ${version}`, join(unchanged, 'dist/bin', name)), null, name);
  }
});

t.test('names the missing binary or package in the reason', async (t) => {
  const reason = (text: string) => new RegExp(`for Node ${versions.node} .*: ${text}$`);
  t.match(loadUws([t.testdir()]), reason(`${file} does not exist`));
  t.match(
    loadUws([]),
    reason('no package with binaries is installed; .* run npm install uws-pack@[\\d.]+'),
  );
});

const dockerfile = await readFile(join(rootPath, 'Dockerfile'), 'utf8');
const ofImage = /^ARG NODE_VERSION=(\d+)$/m.exec(dockerfile)?.[1];
t.test(
  'loads uWebSockets.js in the Node of the container image',
  { skip: versions.node.split('.')[0] !== ofImage && `this is not Node ${ofImage}` },
  async (t) => {
    t.type(loadUws(), 'object');
  },
);

t.test('installs the binaries for all supported Nodes', async (t) => {
  const read = async (name: string) => JSON.parse(await readFile(join(rootPath, name), 'utf8'));
  const { packages } = await read('package-lock.json');
  const { engines } = packages['node_modules/uws-pack'];
  // npm refuses to install packages that do not allow its Node. The package itself says 22, but
  // contains binaries for 20.
  t.same(engines, { node: '>=20' }, 'edited by hand: see docs/contributing/uwebsockets.md');
  t.match((await read('package.json')).devDependencies, { 'uws-pack': String });
});
