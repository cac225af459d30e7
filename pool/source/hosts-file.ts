import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

const hostsPath = '/etc/hosts';
/** Interval of the checks for changes, in ms. */
const checkEveryMs = 5_000;
/** A larger file is not read: it is a blocklist. */
const maxBytes = 4 * 1024 * 1024;

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** The names of hosts(5), reloaded when the file has changed. */
export class HostsFile {
  readonly #path: string;
  readonly #now: () => number;
  #names: ReadonlyMap<string, readonly LookupAddress[]> = new Map();
  #version = '';
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** @param now ms, monotonic */
  constructor(path = hostsPath, now: () => number = () => performance.now()) {
    this.#path = path;
    this.#now = now;
  }

  /**
   * The addresses of a canonical name; null when the file does not contain it. `localhost` and its subdomains
   * are loopback by default (RFC 6761, 6.3).
   */
  async find(name: string): Promise<readonly LookupAddress[] | null> {
    if (this.#now() - this.#checkedAt >= checkEveryMs) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = null;
      });
      await this.#reading;
    }
    const found = this.#names.get(name) ?? null;
    return found ?? (name === 'localhost' || name.endsWith('.localhost') ? loopback : null);
  }

  async #read(): Promise<void> {
    this.#checkedAt = this.#now();
    try {
      const { mtimeMs, ino, size } = await stat(this.#path);
      const version = `${mtimeMs} ${ino} ${size}`;
      if (version === this.#version) return;
      this.#names = size > maxBytes ? new Map() : parseHosts(await readFile(this.#path, 'utf8'));
      this.#version = version;
    } catch {
      this.#names = new Map();
      this.#version = '';
    }
  }
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase().replace(/\.$/, '');
      const known = names.get(name) ?? [];
      known.push({ address, family });
      names.set(name, known);
    }
  }
  return names;
}
