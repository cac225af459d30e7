#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * The command of the package `image-delivery`, of the container image, and of the npm scripts of a clone: runs a program
 * of `dist/`. `contract/package.ts` returns its name for messages.
 */
const programs = {
  serve: ['server/local/main.js', "serve a folder's images to this machine"],
  start: ['server/start.js', 'run the service and its worker'],
  server: ['server/main.js', 'run only the service'],
  worker: ['worker/main.js', 'run only the worker, which prewarms images and sends webhooks'],
  admin: ['server/admin/main.js', 'manage keys, organisations, projects and the store'],
  demo: ['demo/main.js', 'run the service with sample images and temporary data'],
  explain: ['server/explain/main.js', "explain an image URL, including another service's"],
  health: ['server/health-check.js', "exit with code 0 if this machine's service is ready"],
};
const file = (path) => new URL(`../${path}`, import.meta.url);
// Without imports of `dist/`, so that this runs on every version of Node that has modules.
const manifest = JSON.parse(readFileSync(file('package.json'), 'utf8'));
const ownName = process.env.npm_command === 'exec' ? 'npx image-delivery' : 'image-delivery';
/** In a clone, messages name the npm scripts. */
const isClone = existsSync(file('scripts/build.js'));

const lines = Object.entries(programs).map(([name, [, does]]) => `  ${name.padEnd(9)}${does}`);
const help = `Usage: ${ownName} <command> [options]

Resize, crop and convert images by URL, on your own machine.

Commands:
${lines.join('\n')}

Options:
  --version  print the version
  --help     print this help, or a command's help after the command
`;

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

/** Returns whether this Node satisfies `engines`, such as `>=20.19`. */
function isSupported() {
  const [major, minor] = manifest.engines.node.slice(2).split('.').map(Number);
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

/** Returns the user's cache folder, or null without one, such as for a user id without a name. */
function ownCacheFolder() {
  try {
    const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
    // Anyone can write to the current folder, so a relative path is no folder of the user's own.
    return isAbsolute(caches) ? join(caches, 'image-delivery') : null;
  } catch {
    return null;
  }
}

/**
 * Keeps the code that V8 compiles, for this process and those that it starts (Node 22.1). In the user's own folder:
 * whoever can write to it can run code.
 */
function cacheCompiledCode() {
  const folder = process.env.NODE_COMPILE_CACHE || ownCacheFolder();
  const { directory } = (folder && module.enableCompileCache?.(folder)) || {};
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = folder;
}

const [, , name = '--help', ...args] = process.argv;
const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
if (name === '--version' || name === '-V') {
  process.stdout.write(`${manifest.version}\n`);
} else if (name === '--help' || name === '-h' || name === 'help') {
  process.stdout.write(help);
} else if (program === undefined) {
  fail(`Unknown command: ${name}\n\n${help}`);
} else if (!isSupported()) {
  fail(
    `This needs Node ${manifest.engines.node}; this is Node ${process.versions.node}, ${process.execPath}.`,
  );
} else {
  cacheCompiledCode();
  if (!isClone) process.env.IMAGE_DELIVERY_COMMAND = ownName;
  process.argv.splice(2, process.argv.length, ...args);
  await import(file(`dist/${program[0]}`).href);
}
