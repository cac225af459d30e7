import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { rootPath } from '../root.ts';
import { freePort } from '../service/service.ts';
import { until } from '../until.ts';

const run = promisify(execFile);
const examples = join(rootPath, 'sdk/examples');
const tsc = join(rootPath, 'node_modules/typescript/bin/tsc');
const packageName = '@image-delivery/sdk';
/** Longer than an installation or a build takes on a busy machine. */
const patienceMs = 10 * 60_000;
/** The environment minus tap's hooks. */
const plainEnvironment = { ...process.env, NODE_OPTIONS: '' };
const generated = /\/(node_modules|dist|\.next|\.nuxt|\.output|\.astro|package-lock\.json)$/;

type Environment = Readonly<Record<string, string>>;

/** An app that runs. */
export interface RunningApp {
  /** Ends with a slash. */
  readonly url: string;
  end(): Promise<void>;
}

/** Packs the SDK into a folder, and resolves with the tarball's path. */
export async function pack(folder: string): Promise<string> {
  const args = ['pack', '--workspace', 'sdk', '--pack-destination', folder];
  await run('npm', args, { cwd: rootPath, env: plainEnvironment });
  const tarball = (await readdir(folder)).find((file) => file.endsWith('.tgz')) ?? '';
  return join(folder, tarball);
}

/** Installs packages in a new folder; resolves with its path. */
export async function newFolder(path: string, packages: readonly string[]): Promise<string> {
  await mkdir(path);
  // npm would install in a parent folder if this file were missing.
  await writeFile(join(path, 'package.json'), '{ "private": true, "type": "module" }');
  await install(path, packages);
  return path;
}

/** Installs packages in a folder, in addition to the packages in its `package.json`. */
async function install(folder: string, packages: readonly string[]): Promise<void> {
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages];
  await run('npm', args, { cwd: folder, env: plainEnvironment, timeout: patienceMs });
}

/**
 * Runs a command of a folder's packages. Resolves with its output if it fails, otherwise with null.
 */
export async function failure(folder: string, command: readonly string[]): Promise<string | null> {
  const options = { cwd: folder, env: plainEnvironment, timeout: patienceMs };
  try {
    await run('npx', ['--no-install', ...command], options);
    return null;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`;
  }
}

/** An example of the SDK, in a temporary folder. */
export class App {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Copies an example, and installs it with the packed SDK. */
  static async install(name: string, tarball: string, parent: string): Promise<App> {
    const folder = join(parent, name);
    const filter = (path: string) => !generated.test(path);
    await cp(join(examples, name), folder, { recursive: true, filter });
    await install(folder, [tarball]);
    return new App(folder);
  }

  /** Writes files of the app by their paths; null removes a file or folder. */
  async write(files: Readonly<Record<string, string | null>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.#folder, name);
      if (text === null) {
        await rm(path, { recursive: true, force: true });
        continue;
      }
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
  }

  /** Runs a script of its `package.json`; resolves when it serves its pages. */
  async start(script: string, environment: Environment): Promise<RunningApp> {
    const port = await freePort();
    const child = spawn('npm', ['run', script], {
      cwd: this.#folder,
      env: { ...plainEnvironment, ...environment, PORT: String(port) },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text;
      });
    }
    const ended = once(child, 'exit');
    const url = `http://127.0.0.1:${port}/`;
    const kill = () => {
      // The whole group: npm does not pass signals on to the programs of its shell.
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    process.once('exit', kill);
    const end = async () => {
      kill();
      await ended;
      process.off('exit', kill);
    };
    const answers = () => {
      if (child.exitCode !== null) throw new Error(`npm run ${script} failed:\n${output}`);
      return fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    };
    try {
      await until('the page of the example', answers, patienceMs);
      return { url, end };
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Checks the types of a program in the app, and resolves with the errors. */
  async typeErrors(program: string): Promise<string> {
    await writeFile(join(this.#folder, 'program.ts'), program);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--types', '', '--ignoreConfig'];
    const resolution = ['--module', 'esnext', '--moduleResolution', 'bundler'];
    const args = [tsc, ...options, ...resolution, 'program.ts'];
    const { stdout } = await run(process.execPath, args, { cwd: this.#folder }).catch(
      (error) => error,
    );
    return stdout;
  }

  /**
   * Builds the app with an import of `./sign` in a file of its browser bundle. Resolves with the
   * failed command's output, or null if the build succeeds.
   */
  async buildWithSecret(file: string, command: readonly string[]): Promise<string | null> {
    const path = join(this.#folder, file);
    const text = await readFile(path, 'utf8');
    // Behind a directive such as 'use client'.
    const [directive = ''] = /^'use .*';\n/.exec(text) ?? [];
    const code = `import * as sign from '${packageName}/sign';\nconsole.log(sign);\n`;
    await writeFile(path, `${directive}${code}${text.slice(directive.length)}`);
    try {
      return await failure(this.#folder, command);
    } finally {
      await writeFile(path, text);
    }
  }
}
