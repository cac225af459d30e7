import { randomBytes, scryptSync } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import { Keyring } from '../../store/keyring.ts';
import type { Project } from '../../store/projects.ts';
import { bytesOfProject, knownBytes } from '../project-bytes.ts';
import type { KnownProjectsSnapshot, ProjectUpdate } from './channel.ts';

/** The first line of the file. Incremented with the format or the fields of a project; other files are not read. */
const format = 'known-projects 3';
/** The file is written after changes, and because the time of confirmation in it is too old. */
const [saveEveryMs, confirmEveryMs] = [5_000, 60_000];

/**
 * The projects that the front ends of this machine know, for front ends that start while the store is unavailable: in
 * memory, and in a file for a restart of the service.
 * The file includes the secrets of signed URLs, so it is encrypted with a key derived from the store's URL: the URL
 * gives access to the same data, and the projects of one store are never used for another.
 */
export class KnownProjects {
  readonly #projects = new LRUCache<string, Project>({
    maxSize: knownBytes,
    sizeCalculation: bytesOfProject,
  });
  #confirmedAt = 0;
  /** When the projects of the file were confirmed; null if others are known. */
  #savedAt: number | null = null;

  get snapshot(): KnownProjectsSnapshot {
    return { confirmedAt: this.#confirmedAt, projects: [...this.#projects.values()] };
  }

  /** Notes that the projects of a front end were current, Unix ms. */
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
   * Adds the projects of the file, and writes it every few seconds from now on.
   * @param storeUrl with its credentials
   * @param onError called with the first of several failures
   * @returns a function that writes the last changes
   */
  async keepIn(path: string, storeUrl: string, onError: (error: unknown) => void) {
    const { confirmedAt, projects } = (await read(path, storeUrl)) ?? this.snapshot;
    this.confirm(confirmedAt);
    for (const project of projects) this.#projects.set(project._id, project);
    let isFailing = false;
    const save = async (maxAgeMs = 0) => {
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
    const timer = setInterval(save, saveEveryMs, confirmEveryMs);
    return () => {
      clearInterval(timer);
      return save();
    };
  }
}

/** Returns the projects of a file, or null if there is no complete file of this store. */
async function read(path: string, storeUrl: string): Promise<KnownProjectsSnapshot | null> {
  const text = await readFile(path, 'latin1').catch(() => '');
  const [header, salt = '', sealed = ''] = text.split('\n');
  const body = header === format ? keyringOf(storeUrl, salt).open(sealed, format) : null;
  // Safe: the content is authenticated, so this module wrote it.
  return body === null ? null : deserialize(Buffer.from(body, 'base64'));
}

/** Writes a new file and renames it, so that a reader sees a complete one. */
async function write(path: string, storeUrl: string, projects: KnownProjectsSnapshot) {
  const salt = randomBytes(16).toString('base64url');
  const body = serialize(projects).toString('base64');
  const text = [format, salt, keyringOf(storeUrl, salt).seal(body, format)].join('\n');
  await rm(`${path}.new`, { force: true });
  await writeFile(`${path}.new`, text, { flag: 'wx', mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

/** Takes about 50 ms on purpose: the password in the URL may be short. */
function keyringOf(storeUrl: string, salt: string): Keyring {
  const key = scryptSync(storeUrl, salt, 32, { N: 2 ** 14, r: 8, p: 1 });
  return new Keyring([{ id: 'url', secret: key.toString('base64') }]);
}
