import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../contract/log.ts';
import { RunningTime } from '../../pool/execution/running-time.ts';
import type { FrontEndStats, ToFrontEnd, ToPrimary } from './channel.ts';
import { readOomKills } from './machine.ts';
import { healthyAfterMs, type RestartLimits, RestartPolicy } from './restart-policy.ts';

const defaultRestartLimits: RestartLimits = {
  immediate: 1,
  firstMs: 200,
  mostMs: 10_000,
  failedStarts: 12,
};
/** Time limit for a front end to load and listen. */
const startWithinMs = 60_000;
/** Time limit of a drain, after which the front end is killed. */
const drainWithinMs = 35_000;
/**
 * How long clients keep connections to a replaced process (uWebSockets.js closes idle ones after 10
 * s). The next response on a connection closes it.
 */
const connectionGraceMs = 11_000;

const replacing = 'replacing dead front end';

/** The error of a front end that a signal ended before it listened. */
class KilledEarly extends Error {}

const stuckDrainWithinMs = connectionGraceMs + 1_000;

/** A slot for a front end, and the process that listens in it. */
interface Slot {
  current: FrontEndProcess | null;
  readonly restarts: RestartPolicy;
}

/** A front end's process, from fork to end. */
interface FrontEndProcess {
  readonly worker: Worker;
  /** Since when it listens, or listened before its drain; null before. */
  listenedAt: number | null;
  /** Whether all its threads are stuck, and a replacement is starting. */
  isStuck: boolean;
  isUnresponsive: boolean;
  readonly ended: Promise<unknown>;
}

export interface SupervisorOptions {
  readonly entry: string;
  readonly processes: number;
  /** Arguments for Node, after this process's own. */
  readonly execArgv?: readonly string[];
  /** Added to the environment of every front end. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Replaces a front end if its transforms make no progress for this long, ms. */
  readonly stalledAfterMs: number;
  readonly restartLimits?: RestartLimits;
  /** Returns the number of processes that the kernel has killed for lack of memory. */
  readonly countOomKills?: () => number;
}

/** The messages of a front end, except a failed start. */
export type FrontEndMessage = Exclude<ToPrimary, { readonly type: 'cannot-start' }>;

interface FrontEndListener {
  onMessage(frontEnd: number, message: FrontEndMessage): void;
  /** Called after a front end's last message. */
  onEnd(frontEnd: number, processId: number): void;
  /** Called when the supervisor gives up restarting front ends, because each failed too often. */
  onGiveUp(reason: string): void;
}

/** Starts, replaces and drains the front ends. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #slots: Slot[];
  /** By cluster id, including draining ones. */
  readonly #frontEnds = new Map<number, FrontEndProcess>();
  readonly #liveness: Liveness;
  /** Resolves when a front end has listened in every slot. */
  #starting: Promise<unknown> = Promise.resolve();
  #rolling: Promise<void> | null = null;
  #listener: FrontEndListener | null = null;
  #announced = false;
  readonly #stopped = new AbortController();
  readonly #countOomKills: () => number;
  /** The kernel's kills up to now that are attributed to a front end, or happened before. */
  #attributedOomKills: number;
  /** Number of replaced front ends by reason, excluding rolling replacements. */
  readonly restarts = { died: 0, unresponsive: 0, stuck: 0 };

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#countOomKills = options.countOomKills ?? readOomKills;
    this.#attributedOomKills = this.#countOomKills();
    this.#slots = Array.from({ length: options.processes }, () => ({
      current: null,
      restarts: new RestartPolicy(options.restartLimits ?? defaultRestartLimits),
    }));
    this.#liveness = new Liveness((frontEnd) => this.#killUnresponsive(frontEnd));
    // The front ends accept from one socket: a blocked primary delays no connection, and no
    // connection is reset when a front end stops listening. (uWebSockets.js opens a socket in each
    // process instead.)
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    const execArgv = [...process.execArgv, ...(options.execArgv ?? [])];
    cluster.setupPrimary({ exec: options.entry, execArgv, serialization: 'advanced' });
  }

  /**
   * Resolves when a front end listens in every slot, or rejects when one cannot start. Replaces a
   * front end that a signal kills before it listens, but not one that exits, which would exit
   * again.
   */
  async start(listener: FrontEndListener): Promise<void> {
    this.#listener = listener;
    this.#liveness.start();
    this.#starting = Promise.all(this.#slots.map((slot) => this.#fillFirst(slot)));
    await this.#starting;
  }

  send(frontEnd: number, message: ToFrontEnd): void {
    const worker = this.#frontEnds.get(frontEnd)?.worker;
    // A front end with a closed channel is ending.
    if (worker?.isConnected()) worker.send(message, () => {});
  }

  broadcast(message: ToFrontEnd, except?: number): void {
    for (const id of this.#frontEnds.keys()) if (id !== except) this.send(id, message);
  }

  /** Number of front ends that this machine runs: fewer than configured if memory was short. */
  get size(): number {
    return this.#slots.length;
  }

  /** Number of listening front ends, excluding draining ones. */
  get listening(): number {
    return this.#slots.filter(({ current }) => current !== null).length;
  }

  findPid(frontEnd: number): number | undefined {
    return this.#frontEnds.get(frontEnd)?.worker.process.pid;
  }

  /**
   * Replaces the processes one at a time, so that at most one more than usual takes memory: each
   * drains after its replacement listens, and has ended before the next. Does nothing if the
   * service will stop. Never rejects.
   */
  async roll(): Promise<void> {
    if (this.#announced) return;
    this.#rolling ??= this.#roll().finally(() => {
      this.#rolling = null;
    });
    await this.#rolling;
  }

  /**
   * Notifies all front ends, including later ones, that the service will stop. They serve until
   * `stop`.
   */
  announceStop(): void {
    this.#announced = true;
    this.broadcast({ type: 'service-stops' });
  }

  /** Drains all front ends. Resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.announceStop();
    this.#liveness.stop();
    await Promise.all([...this.#frontEnds.values()].map((frontEnd) => this.#drain(frontEnd, 0)));
  }

  async #roll(): Promise<void> {
    const { log } = this.#options;
    // A slot that is still being filled would get a second front end.
    await this.#starting.catch(() => {});
    if (this.#announced) return;
    log.info('replacing front ends one at a time');
    for (const slot of [...this.#slots]) {
      const replaced = slot.current;
      try {
        await this.#fill(slot);
        await replaced?.ended;
        if (this.#announced) return;
      } catch (error) {
        if (this.#announced) return;
        log.error({ err: error }, 'starting replacement failed; keeping other front ends');
        return;
      }
    }
    log.info('front ends replaced');
  }

  async #fillFirst(slot: Slot): Promise<void> {
    for (;;) {
      const attemptedAt = performance.now();
      try {
        return await this.#fill(slot);
      } catch (error) {
        if (!this.#slots.includes(slot)) return;
        if (this.#stopping || !(error instanceof KilledEarly)) throw error;
        const delayMs = slot.restarts.ended(performance.now() - attemptedAt, false);
        if (slot.restarts.giveUpReason !== null) throw error;
        this.#options.log.error({ why: error.message, delayMs }, replacing);
        await this.#wait(delayMs);
        if (this.#stopping) throw error;
      }
    }
  }

  /** Starts a new process for a slot, and drains the old process once the new one listens. */
  async #fill(slot: Slot): Promise<void> {
    const { log, environment } = this.#options;
    const worker = cluster.fork(environment);
    const { id } = worker;
    const frontEnd: FrontEndProcess = {
      worker,
      listenedAt: null,
      isStuck: false,
      isUnresponsive: false,
      ended: new Promise((resolve) => worker.once('exit', resolve)),
    };
    const startedAt = performance.now();
    this.#frontEnds.set(id, frontEnd);
    log.debug({ frontEnd: id, child: worker.process.pid }, 'front end starting');
    return new Promise((resolve, reject) => {
      const startTimer = setTimeout(() => worker.process.kill('SIGKILL'), startWithinMs);
      worker.on('message', (message: ToPrimary) => {
        this.#liveness.messageReceived(id);
        if (message.type === 'ready') {
          clearTimeout(startTimer);
          frontEnd.listenedAt = performance.now();
          log.info({ frontEnd: id, child: worker.process.pid }, 'front end listening');
          if (slot.current !== null) void this.#drain(slot.current, connectionGraceMs);
          slot.current = frontEnd;
          this.#listener?.onMessage(id, message);
          resolve();
        } else if (message.type === 'cannot-start') {
          worker.process.kill('SIGKILL');
          reject(new Error(message.reason));
        } else {
          if (message.type === 'started') {
            startTimer.refresh();
            // Before `started` the process has no receiver, and would lose messages.
            if (this.#announced) this.send(id, { type: 'service-stops' });
            log.debug({ frontEnd: id }, 'front end waiting for store');
          }
          if (message.type === 'stats') this.#requireProgress(slot, frontEnd, message.stats);
          this.#listener?.onMessage(id, message);
        }
      });
      worker.on('error', (error) => {
        log.error({ frontEnd: id, err: error }, 'front end failed');
        if (worker.process.pid !== undefined) return;
        // If the fork fails, there is no `exit`: the machine ran out of descriptors or processes.
        clearTimeout(startTimer);
        this.#frontEnds.delete(id);
        reject(new KilledEarly(`a front end could not be started (${error.message})`));
      });
      const end = (code: number, signal: string | null) => {
        this.#frontEnds.delete(id);
        this.#liveness.forget(id);
        this.#listener?.onEnd(id, worker.process.pid ?? 0);
        if (signal === 'SIGKILL') this.#reduceAfterOomKill(slot, frontEnd);
        const { isUnresponsive } = frontEnd;
        if (!this.#stopping && (isUnresponsive || slot.current === frontEnd)) {
          this.restarts[isUnresponsive ? 'unresponsive' : 'died'] += 1;
        }
        const Early = signal === null ? Error : KilledEarly;
        reject(new Early(`a front end ended before it listened (${signal ?? code})`));
        if (slot.current === frontEnd) {
          slot.current = null;
          void this.#replace(slot, startedAt, true, signal ?? code);
        }
      };
      worker.once('exit', (code, signal) => {
        clearTimeout(startTimer);
        // Its last messages, even `ready`, can arrive after its exit.
        if (worker.isConnected()) worker.once('disconnect', () => end(code, signal));
        else end(code, signal);
      });
    });
  }

  get #stopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Resolves early if the service stops. */
  async #wait(ms: number): Promise<void> {
    await sleep(ms, null, { signal: this.#stopped.signal }).catch(() => {});
  }

  async #replace(
    slot: Slot,
    startedAt: number,
    listened: boolean,
    why: string | number,
  ): Promise<void> {
    if (this.#stopping || !this.#slots.includes(slot)) return;
    const delayMs = slot.restarts.ended(performance.now() - startedAt, listened);
    if (
      this.#slots.every(
        (otherSlot) => otherSlot.current === null && otherSlot.restarts.giveUpReason !== null,
      )
    ) {
      this.#listener?.onGiveUp(`${slot.restarts.giveUpReason} (last: ${why})`);
      return;
    }
    this.#options.log.error({ why, delayMs }, replacing);
    await this.#wait(delayMs);
    if (this.#stopping) return;
    const attemptedAt = performance.now();
    await this.#fill(slot).catch((error) => this.#replace(slot, attemptedAt, false, String(error)));
  }

  /**
   * Gives up a slot, except the last, if the kernel has killed its process for lack of memory before
   * or soon after it listened: the next process would take the same memory.
   */
  #reduceAfterOomKill(slot: Slot, { listenedAt, isUnresponsive }: FrontEndProcess): void {
    if (this.#stopping || isUnresponsive) return;
    if (this.#countOomKills() <= this.#attributedOomKills) return;
    this.#attributedOomKills += 1;
    const isEarly = listenedAt === null || performance.now() - listenedAt < healthyAfterMs;
    const at = this.#slots.indexOf(slot);
    if (!isEarly || at === -1 || this.#slots.length === 1) return;
    this.#slots.splice(at, 1);
    this.#options.log.error(
      { frontEnds: this.#slots.length },
      'front end killed for lack of memory, and not replaced: reduce SERVICE_PROCESSES or SERVICE_POOL_THREADS, or raise the memory limit',
    );
  }

  /** SIGKILL, because a stopped process (SIGSTOP) does not handle SIGTERM. */
  #killUnresponsive(id: number): void {
    const frontEnd = this.#frontEnds.get(id);
    if (frontEnd === undefined) return;
    const { process } = frontEnd.worker;
    this.#options.log.error({ frontEnd: id, child: process.pid }, 'killing unresponsive front end');
    frontEnd.isUnresponsive = true;
    process.kill('SIGKILL');
  }

  /**
   * Replaces a front end with every thread stuck in native code. It serves cached images until its
   * replacement listens.
   */
  #requireProgress(slot: Slot, frontEnd: FrontEndProcess, stats: FrontEndStats): void {
    const { stalledMs } = stats.transforms;
    const { log, stalledAfterMs } = this.#options;
    const { id, process } = frontEnd.worker;
    if (stalledMs <= stalledAfterMs || slot.current !== frontEnd) return;
    if (this.#stopping || frontEnd.isStuck) return;
    frontEnd.isStuck = true;
    this.restarts.stuck += 1;
    log.error({ frontEnd: id, child: process.pid, stalledMs }, 'replacing stuck front end');
    this.#fill(slot).catch((error) => {
      log.error({ err: error }, 'starting replacement failed');
      process.kill('SIGKILL');
    });
  }

  /**
   * Ends a front end that has finished its requests. A stuck front end gets less time, because it
   * never exits by itself.
   * @param graceMs shortens the grace of a front end that drains already
   */
  async #drain(
    { worker, listenedAt, ended, isStuck }: FrontEndProcess,
    graceMs: number,
  ): Promise<void> {
    if (worker.isDead()) return;
    // A front end that does not listen has no requests, and might not receive messages.
    if (listenedAt === null) worker.process.kill('SIGKILL');
    this.send(worker.id, { type: 'drain', graceMs });
    const withinMs = isStuck ? stuckDrainWithinMs : drainWithinMs;
    const killTimer = setTimeout(() => worker.process.kill('SIGKILL'), withinMs);
    await ended;
    clearTimeout(killTimer);
  }
}

/**
 * Front ends send their stats every second; after this time without a message, a front end is
 * unresponsive. Pauses of this process do not count, because it reads no messages meanwhile.
 */
const unresponsiveAfterMs = 15_000;
const checkEveryMs = 1_000;

/** Detects unresponsive front ends, which hold connections and send no response. */
export class Liveness {
  readonly #onUnresponsive: (frontEnd: number) => void;
  readonly #time: RunningTime;
  /** By front end, in `#time`. */
  readonly #lastMessageAt = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param onUnresponsive called with a front end that has sent no message for 15 s
   * @param now ms, monotonic
   */
  constructor(onUnresponsive: (frontEnd: number) => void, now?: () => number) {
    this.#onUnresponsive = onUnresponsive;
    this.#time = new RunningTime(now);
  }

  start(): void {
    this.#timer = setInterval(() => this.check(), checkEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Records a front end's message, and starts watching it at the first message. */
  messageReceived(frontEnd: number): void {
    this.#lastMessageAt.set(frontEnd, this.#time.ms);
  }

  forget(frontEnd: number): void {
    this.#lastMessageAt.delete(frontEnd);
  }

  check(): void {
    const now = this.#time.ms;
    for (const [frontEnd, lastMessageAt] of this.#lastMessageAt) {
      if (now - lastMessageAt <= unresponsiveAfterMs) continue;
      this.#lastMessageAt.delete(frontEnd);
      this.#onUnresponsive(frontEnd);
    }
  }
}
