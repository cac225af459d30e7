import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { Client, type Dispatcher, Pool } from 'undici';
import { errorCatalogue } from '../../contract/errors.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import { joinStore } from '../../store/open.ts';
import { startTestOrigin, type TestOrigin } from '../service/origin.ts';
import { parseMetrics, sumTotal } from '../service/scrape.ts';
import { freePort, type Service, startService } from '../service/service.ts';
import { until } from '../until.ts';

/** A source, and the request for it. */
export interface HostileRequest {
  readonly what: string;
  readonly bytes: Buffer;
  readonly query?: string;
  readonly keepsMetadata?: boolean;
}

export interface Outcome {
  readonly status: number;
  /** Code of the error body; `unlisted` if it differs from the catalogue, null for an image. */
  readonly code: string | null;
  readonly message: string;
  readonly ms: number;
}

/** Allowed errors for hostile sources. */
const expectedCodes: ReadonlySet<string> = new Set([
  'source_corrupt',
  'source_unsupported',
  'source_too_large',
  'parameter_invalid',
  'overloaded',
]);

/** Describes an unexpected outcome, or returns null if it is allowed. */
export function toFinding({ status, code, message, ms }: Outcome, maxMs: number): string | null {
  if (status !== 200 && !expectedCodes.has(code ?? '')) return `${status} ${code}: ${message}`;
  return ms > maxMs ? `${status} after ${Math.round(ms)} ms` : null;
}

/** Longer than any response of the service takes. */
const responseTimeoutMs = 30_000;
const compressedFrom = 100_000;

/**
 * A running service with an origin of hostile sources. Reports unexpected changes to the service.
 */
export class HostileTarget {
  readonly service: Service;
  readonly origin: TestOrigin;
  readonly project: string;
  readonly #keeping: string;
  readonly #opsUrl: string;
  readonly #pool: Pool;
  readonly #sources = new Map<string, Buffer>();
  #serial = 0;
  #frontEnds: readonly number[];
  #replaced = 0;
  #lines = 0;

  private constructor(
    service: Service,
    origin: TestOrigin,
    [project, keeping]: readonly [string, string],
    opsPort: number,
  ) {
    this.service = service;
    this.origin = origin;
    this.project = project;
    this.#keeping = keeping;
    this.#opsUrl = `http://127.0.0.1:${opsPort}/metrics`;
    this.#frontEnds = service.frontEnds();
    this.#pool = new Pool(service.url, { connections: 16, headersTimeout: responseTimeoutMs });
    origin.serve('/hostile', (request, response) => {
      const bytes = this.#sources.get(request.url?.split('?')[1] ?? '');
      if (bytes === undefined) return void response.writeHead(404).end();
      // Bombs are small when compressed.
      if (bytes.length < compressedFrom) return void response.end(bytes);
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(bytes, { level: 1 }));
    });
  }

  static async start(
    t: Pick<Test, 'teardown'>,
    environment: Readonly<Record<string, string>>,
    hosts: readonly string[] = [],
    origin?: TestOrigin,
  ): Promise<HostileTarget> {
    const opsPort = await freePort();
    const service = await startService(t, {
      environment: { SERVICE_OPS_PORT: String(opsPort), ...environment },
    });
    const project = await service.project(...hosts);
    const keeping = await service.project(...hosts);
    const store = await joinStore(loadSettings(service.environment));
    await store.projects.updateSettings(keeping, { stripMetadata: false });
    await store.close();
    const target = new HostileTarget(
      service,
      origin ?? (await startTestOrigin(t)),
      [project, keeping],
      opsPort,
    );
    t.teardown(() => target.#pool.destroy());
    return target;
  }

  /** Requests a source at a new URL, because the service caches failures. */
  async request(
    { bytes, query = 'w=40&fmt=webp', keepsMetadata = false }: HostileRequest,
    dispatcher: Dispatcher = this.#pool,
  ): Promise<Outcome> {
    this.#serial += 1;
    const name = String(this.#serial);
    this.#sources.set(name, bytes);
    const source = encodeURIComponent(`${this.origin.url}/hostile?${name}`);
    const project = keepsMetadata ? this.#keeping : this.project;
    const path = `/img/${source}?project=${project}&${query}`;
    const startedAt = performance.now();
    try {
      const { statusCode, body } = await dispatcher.request({ path, method: 'GET' });
      const bytes = Buffer.from(await body.arrayBuffer());
      return {
        ...readError(statusCode, bytes),
        status: statusCode,
        ms: performance.now() - startedAt,
      };
    } catch (error) {
      const message = (error as Error).message;
      return { status: 0, code: 'no answer', message, ms: performance.now() - startedAt };
    } finally {
      this.#sources.delete(name);
    }
  }

  /** Waits until the service is ready, and uses a separate connection. */
  async requestAlone(request: HostileRequest): Promise<Outcome> {
    await until('the service is ready', async () => {
      const health = await fetch(`${this.service.url}/api/health`).catch(() => null);
      return health?.ok === true;
    });
    const client = new Client(this.service.url, { headersTimeout: responseTimeoutMs });
    try {
      return await this.request(request, client);
    } finally {
      await client.destroy();
    }
  }

  get #frontEnd(): number {
    return this.service.frontEnds()[0] ?? 0;
  }

  /** Returns the front end's resident memory in MiB, and its peak since the last call. */
  memory(): { readonly now: number; readonly peak: number } {
    const folder = `/proc/${this.#frontEnd}`;
    if (!existsSync(`${folder}/status`)) return { now: 0, peak: 0 };
    const status = readFileSync(`${folder}/status`, 'utf8');
    const mebibytes = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
    // 5 resets the peak (proc(5)).
    writeFileSync(`${folder}/clear_refs`, '5');
    return { now: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
  }

  /** Replaced processes and threads, and logged errors, since the last call. */
  async problems(): Promise<string[]> {
    const found: string[] = [];
    const frontEnds = this.service.frontEnds();
    if (frontEnds.join() !== this.#frontEnds.join()) {
      found.push(`front ends ${this.#frontEnds.join()} are now ${frontEnds.join()}`);
      this.#frontEnds = frontEnds;
    }
    const { log } = this.service;
    const errors = log.slice(this.#lines).filter((line) => Number(line['level']) >= 50);
    this.#lines = log.length;
    found.push(...errors.map((line) => JSON.stringify(line)));
    const replaced = await this.threadsReplaced();
    if (replaced > this.#replaced) found.push(`${replaced - this.#replaced} threads replaced`);
    this.#replaced = replaced;
    return found;
  }

  readonly threadsReplaced = () => this.#metric('image_delivery_transform_threads_replaced_total');

  readonly openRequests = () => this.#metric('image_delivery_requests_open');

  async #metric(name: string): Promise<number> {
    return sumTotal(parseMetrics(await (await fetch(this.#opsUrl)).text()), name);
  }
}

/** Returns the fields of an error body. */
export function readError(status: number, body: Buffer): Pick<Outcome, 'code' | 'message'> {
  if (status < 400) return { code: null, message: '' };
  try {
    const { code, message, ...rest } = JSON.parse(body.toString());
    const listed = errorCatalogue[code as keyof typeof errorCatalogue]?.status === status;
    const fields = Object.keys(rest).sort().join();
    if (listed && fields === 'error,resolution_hint') return { code, message };
  } catch {}
  return { code: 'unlisted', message: body.toString().slice(0, 300) };
}
