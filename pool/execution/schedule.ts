import type { Settings } from '../../contract/settings/table.ts';
import { changeCount, RoundRobin } from '../fair-share.ts';
import {
  HeavyTransformScheduler,
  isHeavy,
  type SchedulingKey,
} from './heavy-transform-scheduler.ts';

type ScheduleSettings = Pick<Settings, 'poolThreads' | 'poolQueue' | 'poolMemoryBytes'>;

/** Maximum length of the background queue, as a multiple of the queue for live work. */
const backgroundQueueFactor = 4;

/** While background transforms wait, at least every 16th transform is one of them. */
const maxOvertaken = 15;

/**
 * Decides which transforms wait, which runs next and which is refused.
 *
 * A project cannot delay another's light transforms: projects take turns; in a full queue, a
 * project with fewer queued transforms displaces a transform of the project with the most; and an
 * additional thread runs only light transforms for projects with no running transform. Heavy
 * transforms take separate turns, and run concurrently only while their estimated memory fits in a
 * limit.
 */
export class Schedule<T extends SchedulingKey> {
  readonly #settings: ScheduleSettings;
  readonly #live = new RoundRobin<T>();
  readonly #background = new RoundRobin<T>();
  readonly #running = new Set<T>();
  readonly #heavy: HeavyTransformScheduler<T>;
  /** Each project's live transforms with sources being fetched. */
  readonly #reserved = new Map<string, number>();
  /** Live transforms that started while background work waited, since the last background one. */
  #overtaken = 0;
  /** Heavy and light transforms alternate while both could start. */
  #lastWasHeavy = false;

  constructor(settings: ScheduleSettings) {
    this.#settings = settings;
    this.#heavy = new HeavyTransformScheduler(settings, this.#running);
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

  /** Estimated memory of the running heavy transforms, in bytes. */
  get costlyBytes(): number {
    return this.#heavy.bytes;
  }

  /**
   * Returns whether a project's live transform must be refused.
   * @param reserved its transforms to count in addition
   */
  isFull(project: string, reserved = 0): boolean {
    const { poolThreads: threads, poolQueue: queue } = this.#settings;
    if (this.#used + reserved < threads + queue || this.#displaces(project, reserved)) return false;
    return reserved > 0 || !this.#hasExtraThread(project);
  }

  /**
   * Returns whether a project's live transform will probably be refused, so that its fetch would be
   * wasted. If more than half of the queue is in use, the project's reservations count too.
   */
  willBeFull(project: string): boolean {
    const countsReserved = this.#live.size > this.#settings.poolQueue / 2;
    return this.isFull(project, countsReserved ? this.#reserved.get(project) : 0);
  }

  /** Reserves a place for a live transform, until the returned function is called. */
  reserve(project: string): () => void {
    changeCount(this.#reserved, project, 1);
    return () => changeCount(this.#reserved, project, -1);
  }

  get isBackgroundFull(): boolean {
    return this.#background.size >= backgroundQueueFactor * Math.max(1, this.#settings.poolQueue);
  }

  /** Returns the transform to refuse in favour of a project's live transform, if any. */
  displacedBy(project: string): T | undefined {
    const { poolThreads: threads, poolQueue: queue } = this.#settings;
    const isAtCapacity = this.#used >= threads + queue;
    return isAtCapacity && this.#displaces(project) ? this.#live.newestOfLongest() : undefined;
  }

  add(task: T): void {
    this.#selectQueue(task).add(task.project, task);
  }

  /** Removes a waiting transform. */
  remove(task: T): void {
    this.#live.delete(task.project, task);
    this.#background.delete(task.project, task);
  }

  /** Makes background work live. Returns true when it waits. */
  promote(task: T): boolean {
    const waits = this.#background.delete(task.project, task);
    task.background = false;
    if (waits) this.#live.add(task.project, task);
    return waits;
  }

  /** Returns the transform to start now; it counts as running until `ended`. */
  start(): T | undefined {
    const hasThread = this.#running.size < this.#settings.poolThreads;
    const task = hasThread ? this.#nextByPriority() : this.#nextForExtraThread();
    if (task === undefined) return undefined;
    if (task.background || this.#background.size === 0) this.#overtaken = 0;
    else this.#overtaken += 1;
    this.#running.add(task);
    this.#lastWasHeavy = isHeavy(task);
    if (this.#lastWasHeavy) this.#heavy.start(task, this.waiting());
    return task;
  }

  ended(task: T): void {
    this.#running.delete(task);
  }

  *waiting(): Generator<T> {
    yield* this.#live;
    yield* this.#background;
  }

  #selectQueue({ background }: T): RoundRobin<T> {
    return background ? this.#background : this.#live;
  }

  /** Number of threads and of places in the queue that are in use. */
  get #used(): number {
    return Math.min(this.#running.size, this.#settings.poolThreads) + this.#live.size;
  }

  /** Returns whether a project has so few queued transforms that it can displace another's. */
  #displaces(project: string, reserved = 0): boolean {
    return this.#live.longest > this.#live.countWaiting(project) + reserved + 1;
  }

  /** Returns whether the additional thread is for this project. */
  #hasExtraThread(project: string): boolean {
    const { poolThreads: threads, poolQueue: queue } = this.#settings;
    return (
      this.#running.size <= threads &&
      this.#live.size <= queue &&
      this.#live.countWaiting(project) === 0 &&
      !this.#hasRunning(project)
    );
  }

  #hasRunning(project: string): boolean {
    return [...this.#running].some((task) => task.project === project);
  }

  /**
   * Returns live work first, but lets it overtake waiting background work only a limited number of
   * times.
   */
  #nextByPriority(): T | undefined {
    const queues = this.#mayRunBackground ? [this.#live, this.#background] : [this.#live];
    if (this.#overtaken >= maxOvertaken) queues.reverse();
    let heavyBlocked = false;
    for (const queue of queues) {
      const inTurn: T | undefined = heavyBlocked ? undefined : this.#heavy.next(queue);
      const heavy = inTurn !== undefined && this.#heavy.fits(inTurn) ? inTurn : undefined;
      heavyBlocked ||= inTurn !== undefined;
      const task = this.#alternate(queue, heavy);
      if (task !== undefined) return task;
    }
    return undefined;
  }

  #alternate(queue: RoundRobin<T>, heavy: T | undefined): T | undefined {
    const light = () => queue.take((task) => !isHeavy(task));
    if (heavy === undefined) return light();
    const first = this.#lastWasHeavy ? light() : undefined;
    if (first !== undefined) return first;
    queue.delete(heavy.project, heavy);
    return heavy;
  }

  /**
   * Background work leaves two threads to live work. By default there is one thread more than
   * cores, so the two threads share a core.
   */
  get #mayRunBackground(): boolean {
    const running = [...this.#running].filter(({ background }) => background).length;
    return running < Math.max(1, this.#settings.poolThreads - 2);
  }

  #nextForExtraThread(): T | undefined {
    if (this.#running.size > this.#settings.poolThreads) return undefined;
    return this.#live.take((task) => !isHeavy(task) && !this.#hasRunning(task.project));
  }
}
