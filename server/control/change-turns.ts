import { ServiceError } from '../../contract/errors.ts';
import { Semaphore } from '../../pool/semaphore.ts';

/** Maximum calls per project that wait for their turn. */
const maxWaiting = 100;
const maxWaitMs = 10_000;

interface Turns {
  readonly semaphore: Semaphore;
  /** Includes the current call. */
  calls: number;
}

/**
 * Runs the calls that change a project one at a time per process. Changes that depend on its state
 * then rarely need repeating, and a project's calls use few store connections.
 */
export class ChangeTurns {
  readonly #projects = new Map<string, Turns>();

  /**
   * @param signal aborts when the client disconnects
   * @throws ServiceError rate_limited; or the signal's reason
   */
  async run<T>(projectId: string, signal: AbortSignal, change: () => Promise<T>): Promise<T> {
    const turns = this.#projects.get(projectId) ?? { semaphore: new Semaphore(1), calls: 0 };
    if (turns.calls > maxWaiting) throw tooManyChanges();
    this.#projects.set(projectId, turns);
    turns.calls += 1;
    try {
      const leave = await enter(turns, signal);
      try {
        return await change();
      } finally {
        leave();
      }
    } finally {
      turns.calls -= 1;
      if (turns.calls === 0) this.#projects.delete(projectId);
    }
  }
}

async function enter({ semaphore }: Turns, signal: AbortSignal): Promise<() => void> {
  const late = AbortSignal.timeout(maxWaitMs);
  try {
    return await semaphore.enter(AbortSignal.any([signal, late]));
  } catch (error) {
    throw late.aborted && !signal.aborted ? tooManyChanges() : error;
  }
}

const tooManyChanges = (): ServiceError =>
  new ServiceError('rate_limited', 'Too many changes to the project are waiting.', undefined, {
    retryAfter: 1,
  });
