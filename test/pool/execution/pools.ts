import type { Test } from 'tap';
import type { Settings } from '../../../contract/settings/table.ts';
import { TransformQueue, type WaitLimits } from '../../../pool/execution/transform-queue.ts';
import type { Timings } from '../../../pool/miss.ts';
import { Urgency } from '../../../pool/single-flight.ts';
import { noObserver, type StageObserver } from '../../../pool/stages.ts';
import type { Variant } from '../../../pool/variant.ts';
import { scriptUrl } from '../../scripts.ts';
import { defaultSettings } from '../../settings.ts';
import { variant } from '../rendering/pictures.ts';
import { type Order, scriptedTask } from './scripted-thread.ts';

/** One thread, and time for slow work on a busy machine. */
export const transformSettings = {
  poolThreads: 1,
  poolQueue: 32,
  poolMemoryBytes: 536_870_912,
  transformTimeoutMs: 60_000,
  svgTimeoutMs: 60_000,
};

export const settings: Settings = { ...defaultSettings, ...transformSettings };

export interface TransformOptions {
  readonly project: string;
  readonly signal: AbortSignal;
  readonly background?: boolean;
  readonly urgency?: Urgency;
  /** Bytes of the variant's layers. */
  readonly layers?: readonly Uint8Array[];
  readonly hold?: () => () => void;
  readonly stages?: StageObserver;
}

/** Runs transforms in a transform queue directly, with no cache miss around them. */
export class TransformPool {
  readonly #queue: TransformQueue;

  constructor(...options: ConstructorParameters<typeof TransformQueue>) {
    this.#queue = new TransformQueue(...options);
  }

  async transform(source: Uint8Array, variant: Variant, options: TransformOptions) {
    const { project, signal, background = false, layers = [], stages = noObserver } = options;
    const { urgency = new Urgency(background ? 'background' : 'live') } = options;
    const { hold = () => () => {} } = options;
    const inputs = [null, ...layers.keys()].map((layer) => ({ layer }));
    const request = { project, variant, background, stages, inputs };
    const timings: Timings = {};
    const leases = layers.map((bytes) => ({ bytes, hold }));
    const miss = { request, signal, urgency, timings };
    const image = await this.#queue.transform(miss, [{ bytes: source, hold }, ...leases]);
    return { ...image, queueMs: timings.queue ?? 0, transformMs: timings.transform ?? 0 };
  }

  isFull(project: string): boolean {
    return this.#queue.isFull(project);
  }

  stats() {
    return this.#queue.stats();
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}

/** Opens a transform pool that closes with the test. */
export function openPool(
  t: Pick<Test, 'teardown'>,
  changes: Partial<Settings> = {},
  entry?: URL,
  waitLimits?: WaitLimits,
): TransformPool {
  const pool = new TransformPool({ ...settings, ...changes }, entry, waitLimits);
  t.teardown(() => pool.close());
  return pool;
}

/** Options of a request that never aborts. */
export const patient = { project: 'p', signal: new AbortController().signal };

/** Entry of threads that follow the test's orders. */
export const scriptedThread = scriptUrl('scripted-thread', import.meta.url);

interface SubmitOptions extends Partial<TransformOptions> {
  readonly order?: Order;
  readonly costBytes?: number;
}

/** Queues a task for a scripted thread. */
export function submit(pool: TransformPool, options: SubmitOptions = {}) {
  const { order, costBytes, ...more } = options;
  const task = scriptedTask(order, costBytes);
  return { ...task, done: pool.transform(task.source, variant(), { ...patient, ...more }) };
}

/**
 * Opens a pool of scripted threads. Its tasks record their names, or errors, when they have ended.
 */
export function openScripted(...[t, changes]: Parameters<typeof openPool>) {
  const pool = openPool(t, changes, scriptedThread);
  const ended: string[] = [];
  const run = (name: string, options: SubmitOptions = {}) => {
    const task = submit(pool, options);
    const done = task.done.then(
      () => void ended.push(name),
      ({ code }) => void ended.push(`${name} ${code}`),
    );
    return { ...task, done };
  };
  return { pool, ended, run };
}

/** Releases the tasks and waits for their ends. */
export async function finish(
  ...tasks: readonly { readonly release: () => void; readonly done: Promise<unknown> }[]
): Promise<void> {
  for (const { release } of tasks) release();
  await Promise.all(tasks.map(({ done }) => done));
}
