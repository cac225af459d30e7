import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import type { KnownProjectsSnapshot } from './channel.ts';
import type { KnownProjects } from './known-projects.ts';

/** Incremented with the format or the fields of a project; files with another header are not read. */
const format = Buffer.from('known-projects 2\n');
const cipher = 'aes-256-gcm';
const [saltBytes, keyBytes, ivBytes, tagBytes] = [16, 32, 12, 16];

/** Delay and interval of the writes: a burst of changes is one write. */
const writeAfterMs = 500;
const writeEveryMs = 5_000;
/** The time of confirmation in the file is this much too old at most. */
const confirmEveryMs = 60_000;

interface KnownProjectsFileOptions {
  readonly path: string;
  /** The store's URL, with its credentials. */
  readonly storeUrl: string;
  readonly known: KnownProjects;
  readonly onError: (error: unknown) => void;
}

/**
 * A file of the known projects, for a start while the store is unavailable.
 *
 * It includes the secrets of signed URLs, which checks of signatures need. It is encrypted with a key derived
 * from the store's URL: the URL gives access to the same data, and the projects of one store
 * are never used for another.
 */
export class KnownProjectsFile {
  readonly #options: KnownProjectsFileOptions;
  #salt = randomBytes(saltBytes);
  #key: Buffer | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #writtenAt = 0;
  #confirmedAt = 0;
  #failing = false;

  constructor(options: KnownProjectsFileOptions) {
    this.#options = options;
  }

  /** Null without a complete file of this store. */
  async read(): Promise<KnownProjectsSnapshot | null> {
    const bytes = await readFile(this.#options.path).catch(() => null);
    if (bytes === null || !bytes.subarray(0, format.length).equals(format)) return null;
    const part = (from: number, length: number) =>
      bytes.subarray(format.length + from, format.length + from + length);
    const salt = part(0, saltBytes);
    const iv = part(saltBytes, ivBytes);
    const tag = part(saltBytes + ivBytes, tagBytes);
    const body = part(saltBytes + ivBytes + tagBytes, bytes.length);
    try {
      const key = this.#keyOf(salt);
      const decipher = createDecipheriv(cipher, key, iv).setAAD(format).setAuthTag(tag);
      const text = Buffer.concat([decipher.update(body), decipher.final()]);
      // Safe: the content is authenticated, so this module wrote it.
      const snapshot = deserialize(text) as KnownProjectsSnapshot;
      [this.#salt, this.#key] = [Buffer.from(salt), key];
      this.#confirmedAt = snapshot.confirmedAt;
      return snapshot;
    } catch {
      return null;
    }
  }

  /** Schedules a write after a change. */
  changed(): void {
    const elapsedMs = performance.now() - this.#writtenAt;
    this.#timer ??= setTimeout(
      () => this.#write(),
      Math.max(writeAfterMs, writeEveryMs - elapsedMs),
    );
  }

  /** Schedules a write when the time of confirmation in the file is too old. */
  confirmed(): void {
    if (Math.abs(this.#options.known.confirmedAt - this.#confirmedAt) >= confirmEveryMs) {
      this.changed();
    }
  }

  /** Writes the last changes. */
  async close(): Promise<void> {
    const confirmed = this.#options.known.confirmedAt !== this.#confirmedAt;
    if (confirmed || this.#timer !== null) this.#write();
    await this.#writing;
  }

  async remove(): Promise<void> {
    await rm(this.#options.path, { force: true });
  }

  #write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writtenAt = performance.now();
    this.#writing = this.#writing
      .then(() => this.#replace())
      .then(
        () => {
          this.#failing = false;
        },
        (error) => {
          if (!this.#failing) this.#options.onError(error);
          this.#failing = true;
        },
      );
  }

  /** Writes a new file and renames it, so a reader sees a complete one. */
  async #replace(): Promise<void> {
    const { path, known } = this.#options;
    const current = known.snapshot;
    this.#key ??= this.#keyOf(this.#salt);
    const iv = randomBytes(ivBytes);
    const encryption = createCipheriv(cipher, this.#key, iv).setAAD(format);
    const body = [encryption.update(serialize(current)), encryption.final()];
    const temporary = `${path}.new`;
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(
        Buffer.concat([format, this.#salt, iv, encryption.getAuthTag(), ...body]),
      );
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    this.#confirmedAt = current.confirmedAt;
  }

  /** Takes about 50 ms on purpose: the password in the URL may be short. */
  #keyOf(salt: Uint8Array): Buffer {
    return scryptSync(this.#options.storeUrl, salt, keyBytes, { N: 2 ** 14, r: 8, p: 1 });
  }
}
