import type { Cost } from '../rendering/cost.ts';
import { RoundRobin } from '../round-robin.ts';
import type { EngineSettings } from '../settings.ts';

/** A transform, as far as its order matters. */
export interface Scheduled {
  /** The id of the project, which has its turns. */
  readonly project: string;
  readonly queuedAt: number;
  background: boolean;
  /** Null until a thread has found that the transform is not light. */
  cost: Cost | null;
}

type ScheduleSettings = Pick<EngineSettings, 'threads' | 'queue' | 'costlyBytes'>;

/** Maximum length of the background queue, as a multiple of the queue for live work. */
const backgroundQueueFactor = 4;

/** Most sources arrive within this time. */
const soonMs = 250;

/** At least every 16th transform is a background one while some wait, so that they make progress. */
const mostOvertaken = 15;

/**
 * Which transforms wait, which runs next, and which is refused.
 *
 * One project cannot delay another's light transforms. Projects take turns; when the queue is full,
 * a project with fewer queued transforms displaces one of the project with most; and one thread
 * more than the setting is for light transforms of projects that have none running. Costly
 * transforms run only as far as the estimates of their memory fit in a limit together.
 */
export class Schedule<T extends Scheduled> {
  readonly #settings: ScheduleSettings;
  readonly #live = new RoundRobin<T>();
  readonly #background = new RoundRobin<T>();
  readonly #running = new Set<T>();
  /** Live transforms whose sources are being fetched: at most as many as there are fetch slots. */
  readonly #expected = new Set<{ readonly project: string; readonly since: number }>();
  /** Live transforms that were started while background work waited, since the last of that. */
  #overtaken = 0;

  constructor(settings: ScheduleSettings) {
    this.#settings = settings;
  }

  get running(): number {
    return this.#running.size;
  }

  get liveWaiting(): number {
    return this.#live.size;
  }

  get backgroundWaiting(): number {
    return this.#background.size;
  }

  get idle(): boolean {
    return this.#running.size + this.#live.size + this.#background.size === 0;
  }

  /** Estimated memory of the costly transforms that run, in bytes. */
  get costlyBytes(): number {
    let bytes = 0;
    for (const { cost } of this.#running) bytes += cost?.bytes ?? 0;
    return bytes;
  }

  /** True when a project's live transform has to be refused. */
  isFull(project: string): boolean {
    return this.#crowded && !this.#displaces(project) && !this.#hasExtraThread(project);
  }

  /**
   * True when a project's live transform will have to be refused, so that its fetch would be wasted.
   * While all threads are busy they are what is short, and not a slow origin: those that are expected
   * soon need places too, and when more than half of the queue is in use all that are expected. Under
   * ten times the capacity this has 1.4 to 1.7 x the goodput, and a p99 of hits of 40 to 90 ms instead
   * of 250 to 440.
   */
  willBeFull(project: string): boolean {
    const { threads, queue } = this.#settings;
    if (this.#running.size < threads) return this.isFull(project);
    const all = this.#live.size > queue / 2;
    const after = performance.now() - soonMs;
    let [expected, own] = [0, 0];
    for (const one of this.#expected) {
      if (!all && one.since <= after) continue;
      expected += 1;
      if (one.project === project) own += 1;
    }
    if (this.#used + expected < threads + queue) return false;
    return !this.#displaces(project, own) && !(own === 0 && this.#hasExtraThread(project));
  }

  /** Announces a live transform. The function takes it back. */
  reserve(project: string): () => void {
    const one = { project, since: performance.now() };
    this.#expected.add(one);
    return () => void this.#expected.delete(one);
  }

  get isBackgroundFull(): boolean {
    return this.#background.size >= backgroundQueueFactor * Math.max(1, this.#settings.queue);
  }

  /** The transform that has to be refused in favour of a project's live one, if any has. */
  displacedBy(project: string): T | undefined {
    return this.#crowded && this.#displaces(project) ? this.#live.newestOfLongest() : undefined;
  }

  add(task: T): void {
    this.#turnsOf(task).add(task.project, task);
  }

  /** Queues a transform again, before those that came later: it has run, but was not light. */
  addAgain(task: T): void {
    this.#turnsOf(task).putBack(task.project, task, (other) => other.queuedAt > task.queuedAt);
  }

  /** Removes a transform that waits. */
  remove(task: T): void {
    this.#live.delete(task.project, task);
    this.#background.delete(task.project, task);
  }

  /** Makes background work live. Returns whether it waits. */
  promote(task: T): boolean {
    const waits = this.#background.delete(task.project, task);
    task.background = false;
    if (waits) this.#live.add(task.project, task);
    return waits;
  }

  /** The transform to start now, which counts as running until `ended`. */
  start(): T | undefined {
    const task =
      this.#running.size < this.#settings.threads ? this.#nextByPriority() : this.#nextOfNew();
    if (task === undefined) return undefined;
    if (task.background || this.#background.size === 0) this.#overtaken = 0;
    else this.#overtaken += 1;
    this.#running.add(task);
    return task;
  }

  ended(task: T): void {
    this.#running.delete(task);
  }

  /** All that wait. */
  *waiting(): Generator<T> {
    yield* this.#live;
    yield* this.#background;
  }

  #turnsOf({ background }: T): RoundRobin<T> {
    return background ? this.#background : this.#live;
  }

  /** Places of threads and queue that are in use. */
  get #used(): number {
    return Math.min(this.#running.size, this.#settings.threads) + this.#live.size;
  }

  get #crowded(): boolean {
    const { threads, queue } = this.#settings;
    return this.#used >= threads + queue;
  }

  /** True when a project has so few transforms queued that one of another has to give way. */
  #displaces(project: string, expected = 0): boolean {
    return this.#live.longest > this.#live.countOf(project) + expected + 1;
  }

  /** True when the additional thread is for this project. */
  #hasExtraThread(project: string): boolean {
    const { threads, queue } = this.#settings;
    return (
      this.#running.size <= threads &&
      this.#live.size <= queue &&
      this.#live.countOf(project) === 0 &&
      !this.#hasRunning(project)
    );
  }

  #hasRunning(project: string): boolean {
    for (const task of this.#running) if (task.project === project) return true;
    return false;
  }

  /** Live work first, but it overtakes waiting background work only so many times in succession. */
  #nextByPriority(): T | undefined {
    const guaranteed = this.#overtaken >= mostOvertaken ? this.#nextOfBackground() : undefined;
    return guaranteed ?? this.#live.take(this.#affordable()) ?? this.#nextOfBackground();
  }

  /** With more than one thread, one is reserved for live work. */
  #nextOfBackground(): T | undefined {
    let running = 0;
    for (const { background } of this.#running) if (background) running += 1;
    if (running >= Math.max(1, this.#settings.threads - 1)) return undefined;
    return this.#background.take(this.#affordable());
  }

  /** For the additional thread, when all others are busy. */
  #nextOfNew(): T | undefined {
    if (this.#running.size > this.#settings.threads) return undefined;
    return this.#live.take(({ cost, project }) => cost === null && !this.#hasRunning(project));
  }

  /**
   * Whether a transform fits beside the costly ones that run; one beyond the limit runs when none
   * does. As soon as one does not fit, no other costly one may overtake it.
   */
  #affordable(): (task: T) => boolean {
    const runningBytes = this.costlyBytes;
    let blocked = false;
    return ({ cost }) => {
      if (cost === null) return true;
      blocked ||= runningBytes > 0 && runningBytes + cost.bytes > this.#settings.costlyBytes;
      return !blocked;
    };
  }
}
