import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { outputOf, root, run, say, succeeds } from './run.js';

/** Checks of the packages of a release, from outside as a user gets them. */

/** It is used at releases only, so `npm ci` does not install it. */
const typesChecker = '@arethetypeswrong/cli@0.18.5';
const firstPictureWithinMs = 60_000;

export async function lintPackages() {
  for (const name of ['image-delivery', 'sdk']) {
    const pkgDir = join(root, 'packages', name);
    const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
    const texts = messages.map((message) => formatMessage(message, pkg));
    if (texts.length > 0) throw new Error(`publint, ${name}: ${texts.join('; ')}`);
    say(`publint finds nothing in ${name}`);
  }
}

/** @param {string} tarball of the SDK, which has types; it is for modules only */
export function checkTypes(tarball) {
  const args = ['exec', '--yes', `--package=${typesChecker}`, '--', 'attw', tarball];
  run('npm', [...args, '--profile', 'esm-only', '--no-emoji']);
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Requests a picture of a folder from the command `serve`. @returns the seconds until it came */
async function firstPicture(bin, folder) {
  const begun = performance.now();
  const pictures = join(folder, 'pictures');
  fs.mkdirSync(pictures);
  fs.copyFileSync(join(root, 'demo/origin/pictures/coast.jpg'), join(pictures, 'coast.jpg'));
  const port = await freePort();
  const service = spawn(bin, ['serve', pictures, '--port', port], { cwd: folder });
  let output = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (text) => (output += text));
  try {
    const deadline = begun + firstPictureWithinMs;
    let url;
    while (url === undefined && service.exitCode === null && performance.now() < deadline) {
      await sleep(20);
      url = /http:\S+coast\.jpg\S+w=800/.exec(output)?.[0];
    }
    const response = await fetch(`${url}&fmt=webp`).catch(({ message }) => ({ status: message }));
    const type = response.headers?.get('content-type');
    if (type !== 'image/webp') throw new Error(`no picture: ${response.status} ${type}\n${output}`);
    return (performance.now() - begun) / 1_000;
  } finally {
    service.kill('SIGTERM');
  }
}

/** Installs the package in an empty folder, from the registry and with an empty cache, and requests a picture. */
export async function tryPackage(tarball, version) {
  const folder = fs.mkdtempSync(join(tmpdir(), 'image-delivery-release-'));
  try {
    const options = { cwd: folder };
    fs.writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const begun = performance.now();
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    outputOf('npm', ['install', `--cache=${join(folder, 'cache')}`, ...quiet, tarball], options);
    const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
    const bin = join(folder, 'node_modules/.bin/image-delivery');
    const its = outputOf(bin, ['--version'], options);
    if (its !== version) throw new Error(`the installed command says that it is ${its}`);
    const [megabytes] = outputOf('du', ['-sm', 'node_modules'], options).split('\t');
    const first = (await firstPicture(bin, folder)).toFixed(1);
    say(
      `installed in an empty folder: ${seconds} s, ${megabytes} MB; the first picture after ${first} s`,
    );
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the container image where a program can. @returns whether one could */
export function buildImage(version) {
  const builders = { docker: ['info'], podman: ['info'], buildah: ['info'] };
  const builder = Object.keys(builders).find((name) => succeeds(name, builders[name]));
  if (builder === undefined) {
    say('the container image was not built: neither docker, podman nor buildah works here');
    return false;
  }
  const image = `image-delivery:${version}`;
  run(builder, ['build', '--tag', image, '.']);
  if (builder !== 'buildah') run(builder, ['run', '--rm', image, '--version']);
  return true;
}
