import { randomBytes, scryptSync } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import { Keyring } from '../../store/keyring.ts';
import type { Project } from '../../store/projects.ts';
import type { KnownProjectsSnapshot, ProjectUpdate } from './channel.ts';

/** Size limit of a process's known projects: about ten thousand average projects. */
export const knownBytes = 32 * 1024 * 1024;
/** Estimated entry size, excluding the project's JSON. */
const entryBytes = 2_048;

export const bytesOfProject = (project: Project): number =>
  entryBytes + 2 * JSON.stringify(project).length;

/**
 * The file's first line. Increment it when the format or a project's fields change; other files are
 * ignored.
 */
const format = 'known-projects 3';
/** Changes cause a write, and so does a confirmation time in the file that is too old. */
const [saveEveryMs, confirmEveryMs] = [5_000, 60_000];

/**
 * The projects known to this machine's front ends, for front ends that start while the store is
 * unavailable: in memory, and in a file for restarts of the service. The file includes the secrets
 * of signed URLs, so it is encrypted with a key derived from the store's URL: the URL gives access
 * to the same data, and a store's projects can never be used for another store.
 */
export class KnownProjects {
  readonly #projects = new LRUCache<string, Project>({
    maxSize: knownBytes,
    sizeCalculation: bytesOfProject,
  });
  #confirmedAt = 0;
  /**
   * Confirmation time of the file's projects, or null if the known projects differ from the file.
   */
  #savedAt: number | null = null;

  get snapshot(): KnownProjectsSnapshot {
    return { confirmedAt: this.#confirmedAt, projects: [...this.#projects.values()] };
  }

  /** Notes that a front end's projects were current, Unix ms. */
  confirm(at: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, at);
  }

  /** Returns whether a project has changed. */
  receive(update: ProjectUpdate): boolean {
    const id = update.type === 'project-known' ? update.project._id : update.id;
    const known = this.#projects.peek(id);
    if (update.type === 'project-forgotten') this.#projects.delete(id);
    else if ((known?.revision ?? 0) >= update.project.revision) return false;
    else this.#projects.set(id, update.project);
    this.#savedAt = null;
    return true;
  }

  /**
   * Adds the file's projects, and then writes the file every few seconds.
   * @param storeUrl includes its credentials
   * @param onError called with the first of several failures
   * @returns a function that writes the last changes
   */
  async keepIn(path: string, storeUrl: string, onError: (error: unknown) => void) {
    const { confirmedAt, projects } = (await read(path, storeUrl)) ?? this.snapshot;
    this.confirm(confirmedAt);
    for (const project of projects) this.#projects.set(project._id, project);
    let isFailing = false;
    const saveNow = async (maxAgeMs: number) => {
      if (this.#savedAt !== null && this.#confirmedAt <= this.#savedAt + maxAgeMs) return;
      this.#savedAt = this.#confirmedAt;
      try {
        await write(path, storeUrl, this.snapshot);
        isFailing = false;
      } catch (error) {
        if (!isFailing) onError(error);
        isFailing = true;
      }
    };
    let saving = Promise.resolve();
    const save = (maxAgeMs = 0) => {
      // One after the other, because all use the same temporary file.
      saving = saving.then(() => saveNow(maxAgeMs));
      return saving;
    };
    const timer = setInterval(save, saveEveryMs, confirmEveryMs);
    return () => {
      clearInterval(timer);
      return save();
    };
  }
}

/** Returns a file's projects, or null unless the file is complete and belongs to this store. */
async function read(path: string, storeUrl: string): Promise<KnownProjectsSnapshot | null> {
  const text = await readFile(path, 'latin1').catch(() => '');
  const [header, salt = '', sealed = ''] = text.split('\n');
  const body = header === format ? deriveKeyring(storeUrl, salt).open(sealed, format) : null;
  // Safe: the content is authenticated, so this module wrote it.
  return body === null ? null : deserialize(Buffer.from(body, 'base64'));
}

/** Writes a new file and renames it, so that readers see a complete file. */
async function write(path: string, storeUrl: string, projects: KnownProjectsSnapshot) {
  const salt = randomBytes(16).toString('base64url');
  const body = serialize(projects).toString('base64');
  const text = [format, salt, deriveKeyring(storeUrl, salt).seal(body, format)].join('\n');
  await rm(`${path}.new`, { force: true });
  await writeFile(`${path}.new`, text, { flag: 'wx', mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

/** Takes about 50 ms on purpose, because the password in the URL might be short. */
function deriveKeyring(storeUrl: string, salt: string): Keyring {
  const key = scryptSync(storeUrl, salt, 32, { N: 2 ** 14, r: 8, p: 1 });
  return new Keyring([{ id: 'url', secret: key.toString('base64') }]);
}
