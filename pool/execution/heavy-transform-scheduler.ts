import type { Settings } from '../../contract/settings/table.ts';
import { type ExecutionPlan, isolatedCost } from '../rendering/execution-plan.ts';

/** The properties of a transform that determine its order. */
export interface SchedulingKey {
  readonly project: string;
  readonly queuedAt: number;
  background: boolean;
  /** Null until a thread has found that the transform is heavy. */
  execution: ExecutionPlan | null;
}

/**
 * Decides which heavy transform is next, and whether it fits next to the running transforms.
 *
 * Projects take turns: first the projects with the fewest running heavy transforms, then the
 * project with the least recent start. Only the transform in turn can start, so it gets all memory
 * that becomes free, and no lighter transform overtakes it. It never waits forever: each transform
 * fits when it is alone.
 *
 * A transform can need more memory than all together are allowed
 * (`SERVICE_TRANSFORM_PROCESS_MEMORY_BYTES`), and run for long. So other projects keep part of the
 * memory next to it, and a project leaves one thread to the others.
 */
export class HeavyTransformScheduler<T extends SchedulingKey> {
  readonly #maxBytes: number;
  /**
   * Memory for other projects next to a transform that takes the rest or more: enough for an SVG or
   * a text.
   */
  readonly #sharedBytes: number;
  readonly #maxOfProject: number;
  readonly #running: ReadonlySet<T>;
  /** Numbers of the last starts, of projects with waiting or running heavy transforms. */
  #starts = new Map<string, number>();
  #started = 0;

  /** @param running all running transforms */
  constructor(
    { poolThreads, poolMemoryBytes }: Pick<Settings, 'poolThreads' | 'poolMemoryBytes'>,
    running: ReadonlySet<T>,
  ) {
    this.#maxBytes = poolMemoryBytes;
    this.#sharedBytes = Math.min(isolatedCost.bytes, poolMemoryBytes / 2);
    this.#maxOfProject = Math.max(1, poolThreads - 1);
    this.#running = running;
  }

  /** Estimated memory of the running heavy transforms, in bytes. */
  get bytes(): number {
    return [...this.#running].reduce((sum, task) => sum + toBytes(task), 0);
  }

  /** Returns the waiting transform whose turn it is. */
  next(waiting: Iterable<T>): T | undefined {
    let first: T | undefined;
    for (const task of waiting) {
      if (!isHeavy(task) || this.#countRunning(task.project) >= this.#maxOfProject) continue;
      if (first === undefined || this.#isBefore(task, first)) first = task;
    }
    return first;
  }

  /** Returns whether a transform's memory is free. */
  fits(task: T): boolean {
    const running = [...this.#running].filter(isHeavy);
    if (running.length === 0 || this.bytes + toBytes(task) <= this.#maxBytes) return true;
    if (this.#countRunning(task.project) > 0) return false;
    // A single large transform counts as the memory that it leaves no other project.
    const most = this.#maxBytes - this.#sharedBytes;
    const all = [...running, task].map(toBytes);
    if (all.filter((bytes) => bytes > most).length > 1) return false;
    return all.reduce((sum, bytes) => sum + Math.min(bytes, most), 0) <= this.#maxBytes;
  }

  /** Ends a project's turn. @param waiting all waiting transforms */
  start({ project }: T, waiting: Iterable<T>): void {
    this.#starts.set(project, ++this.#started);
    const present = new Set([...waiting, ...this.#running].filter(isHeavy).map((t) => t.project));
    this.#starts = new Map([...this.#starts].filter(([name]) => present.has(name)));
  }

  #isBefore(task: T, other: T): boolean {
    const running = this.#countRunning(task.project) - this.#countRunning(other.project);
    if (running !== 0) return running < 0;
    const started = this.#lastStart(task.project) - this.#lastStart(other.project);
    return started === 0 ? task.queuedAt < other.queuedAt : started < 0;
  }

  #lastStart(project: string): number {
    return this.#starts.get(project) ?? 0;
  }

  #countRunning(project: string): number {
    return [...this.#running].filter((task) => isHeavy(task) && task.project === project).length;
  }
}

export const isHeavy = ({ execution }: SchedulingKey): boolean => execution !== null;

const toBytes = ({ execution }: SchedulingKey): number => execution?.cost?.bytes ?? 0;
