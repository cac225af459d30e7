import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { seeded, zipf } from '../../bench/load/generator.ts';
import { signature, signedText } from '../../server/image/access.ts';
import { mutant } from '../hostile/inputs/mutations.ts';
import type { SoakOrigin } from './origin.ts';

export interface Target {
  /** URL with no trailing slash. */
  readonly url: string;
  readonly project: string;
  /** A project that requires signatures; null sends no signed URLs. */
  readonly signed: { readonly project: string; readonly secret: string } | null;
}

export interface SoakOptions {
  readonly target: Target;
  readonly origin: SoakOrigin;
  /** Requests a second. */
  readonly rate: number;
  readonly seed: number;
}

/** Shares of the kinds of requests, in percent. */
export const shares = {
  'zipf hits': 66,
  'conditional requests': 10,
  'signed URLs': 8,
  misses: 4,
  errors: 6,
  'hostile pictures': 3,
  'clients that leave': 1,
  health: 2,
} as const;

export type RequestKind = keyof typeof shares;

const widths = [96, 160, 240, 320, 400, 480, 640, 800] as const;
const formats = ['webp', 'jpeg', 'avif', 'auto'] as const;
/** Signed URLs change after this interval, so that cached responses expire. */
const signedForS = 120;
const drainWithinMs = 30_000;

/** Returns zero counts for an interval's responses. */
const noCounts = () => ({
  requests: 0,
  fromCache: 0,
  missed: 0,
  overloaded: 0,
  /** Lost connections, and responses that the request must not get. */
  unexpected: [] as string[],
  hitMs: [] as number[],
  missMs: [] as number[],
});

export type Interval = ReturnType<typeof noCounts>;

export class Load {
  readonly #options: SoakOptions;
  readonly #random;
  readonly #agent = new Agent({ connections: 64, pipelining: 1 });
  readonly #kinds: readonly RequestKind[];
  readonly #variants: readonly string[];
  readonly #drawVariant: () => number;
  readonly #etags = new Map<string, string>();
  #counts = noCounts();
  #open = 0;
  #serial = 0;
  #stopped = false;

  constructor(options: SoakOptions) {
    this.#options = options;
    this.#random = seeded(options.seed);
    this.#kinds = (Object.keys(shares) as RequestKind[]).flatMap((kind) =>
      new Array<RequestKind>(shares[kind]).fill(kind),
    );
    const { origin } = options;
    this.#variants = origin.pictures.flatMap((source) =>
      widths.flatMap((w) =>
        formats.map((fmt) => `${encodeURIComponent(source)}?w=${w}&fmt=${fmt}`),
      ),
    );
    this.#drawVariant = zipf(this.#variants.length, 1, this.#random);
  }

  /** Sends requests until `stop`, and resolves when the last request ends. */
  async run(): Promise<void> {
    const startedAt = performance.now();
    for (let sent = 0; !this.#stopped; sent++) {
      const due = startedAt + (sent * 1_000) / this.#options.rate;
      const early = due - performance.now();
      if (early > 1) await sleep(early);
      // A slow service gets fewer requests instead of more connections.
      while (this.#open >= 64 && !this.#stopped) await sleep(5);
      void this.#send(this.#random.pick(this.#kinds));
    }
    const deadline = performance.now() + drainWithinMs;
    while (this.#open > 0 && performance.now() < deadline) await sleep(20);
    await this.#agent.destroy();
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Returns the counts since the last call. */
  take(): Interval {
    const counts = this.#counts;
    this.#counts = noCounts();
    return counts;
  }

  async #send(kind: RequestKind): Promise<void> {
    this.#open += 1;
    this.#counts.requests += 1;
    try {
      await this.#kindsOfRequests[kind]();
    } catch (error) {
      this.#counts.unexpected.push(`${kind}: ${error instanceof Error ? error.message : error}`);
    } finally {
      this.#open -= 1;
    }
  }

  readonly #kindsOfRequests: Readonly<Record<RequestKind, () => Promise<void>>> = {
    'zipf hits': () => this.#image(this.#popular()),
    'conditional requests': () => {
      const target = this.#popular();
      const etag = this.#etags.get(target);
      return this.#image(target, etag === undefined ? {} : { 'if-none-match': etag });
    },
    'signed URLs': () => this.#image(this.#signed() ?? this.#popular()),
    misses: () => {
      this.#serial += 1;
      const source = this.#random.pick(this.#options.origin.pictures);
      // Parameters that no other request has: over 7 million of them.
      const hue = this.#serial % 721;
      const lightness = Math.floor(this.#serial / 721) / 100;
      const query = `w=640&fmt=webp&hue=${hue - 360}&lightness=${lightness}`;
      return this.#image(this.#target(`${encodeURIComponent(source)}?${query}`));
    },
    errors: () => this.#error(),
    'hostile pictures': () => {
      const { origin, seed } = this.#options;
      const { bytes, what } = mutant(origin.originals, seed, ++this.#serial);
      const source = encodeURIComponent(origin.once(bytes));
      return this.#refusable(this.#target(`${source}?w=50`), what);
    },
    'clients that leave': async () => {
      const leaving = new AbortController();
      setTimeout(() => leaving.abort(), this.#random.below(30));
      const source = encodeURIComponent(this.#random.pick(this.#options.origin.pictures));
      const target = this.#target(`${source}?w=500&hue=1&lightness=${++this.#serial / 1e6}`);
      await this.#get(target, {}, leaving.signal).catch(() => {});
    },
    health: async () => {
      const { status, body } = await this.#get('/api/health');
      if (status !== 200) this.#counts.unexpected.push(`health: ${status} ${body.slice(0, 200)}`);
    },
  };

  /** Expects an image. */
  async #image(target: string, headers: Record<string, string> = {}): Promise<void> {
    const startedAt = performance.now();
    const { status, cache, etag, body } = await this.#get(target, headers);
    const ms = performance.now() - startedAt;
    if (status === 503) {
      this.#counts.overloaded += 1;
      return;
    }
    if (status !== 200 && status !== 304) {
      this.#counts.unexpected.push(`${target}: ${status} ${body.slice(0, 200)}`);
      return;
    }
    if (etag !== undefined && this.#etags.size < 10_000) this.#etags.set(target, etag);
    if (cache === 'miss') {
      this.#counts.missed += 1;
      this.#counts.missMs.push(ms);
    } else {
      this.#counts.fromCache += 1;
      this.#counts.hitMs.push(ms);
    }
  }

  /** Expects an image or an error other than 500 and 502. */
  async #refusable(target: string, what: string): Promise<void> {
    const { status, body } = await this.#get(target);
    if (status === 500 || status === 502 || status < 200) {
      this.#counts.unexpected.push(`${what}: ${status} ${body.slice(0, 200)}`);
    }
  }

  async #error(): Promise<void> {
    const { project } = this.#options.target;
    const picture = encodeURIComponent(this.#random.pick(this.#options.origin.pictures));
    const n = ++this.#serial;
    const [target, expected] = this.#random.pick([
      [`/img/${encodeURIComponent(this.#options.origin.missing(n % 50))}?project=${project}`, 404],
      [`/img/http%3A%2F%2Fn${n}.example%2Fa.jpg?project=${project}`, 403],
      [`/img/${picture}?project=${project}&w=${n}0000`, 400],
      [`/img/${picture}?project=prj_${n.toString(36).padStart(16, '0')}`, 404],
      [`/img/${picture}?project=${'x'.repeat(n % 2_000)}y`, 404],
      [`/nothing/${n}`, 404],
      ['/api/sdk/v1/projects', 401],
    ] as const);
    const { status } = await this.#get(target);
    if (status !== expected && status !== 503) {
      this.#counts.unexpected.push(`${target}: ${status} instead of ${expected}`);
    }
  }

  #popular(): string {
    return this.#target(this.#variants[this.#drawVariant()] ?? '');
  }

  #target(variant: string): string {
    return `/img/${variant}&project=${this.#options.target.project}`;
  }

  #signed(): string | null {
    const { signed, url } = this.#options.target;
    if (signed === null) return null;
    const source = encodeURIComponent(this.#random.pick(this.#options.origin.pictures));
    const expires = (Math.floor(Date.now() / 1_000 / signedForS) + 2) * signedForS;
    const path = `${new URL(url).pathname.replace(/\/$/, '')}/img/${source}`;
    const query = `project=${signed.project}&w=320&fmt=webp&exp=${expires}`;
    const sig = signature(signed.secret, signedText(path, query));
    return `/img/${source}?${query}&sig=${sig}`;
  }

  async #get(path: string, headers: Record<string, string> = {}, signal?: AbortSignal) {
    const response = await this.#agent.request({
      origin: new URL(this.#options.target.url).origin,
      path: new URL(this.#options.target.url).pathname.replace(/\/$/, '') + path,
      method: 'GET',
      headers: { accept: 'image/avif,image/webp,*/*', ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
    return read(response);
  }
}

async function read({ statusCode: status, headers, body }: Dispatcher.ResponseData) {
  const bytes = await body.bytes();
  const header = (name: string) => [headers[name]].flat()[0];
  const text = status === 200 ? '' : Buffer.from(bytes).toString();
  return { status, cache: header('x-cache'), etag: header('etag'), body: text };
}
