import { ServiceError } from '../contract/errors.ts';
import type { TransformQueue } from './execution/transform-queue.ts';
import { FairShare, type Owner } from './fair-share.ts';
import { Permit } from './miss.ts';

/**
 * Limit of misses in progress. Fetches and transforms have limits of their own; this one bounds the
 * requests that wait for the same source, at a few kilobytes each.
 */
const maxMisses = 2_048;
const guaranteedMisses = 32;

/** One for all, because an error's stack is a twelfth of the CPU time of a refusal. */
const refusal = new ServiceError('overloaded', 'Too many transforms are waiting.');

/** Decides whether a miss may begin, before anything is fetched for it. */
export class Admission {
  readonly #transforms: TransformQueue;
  readonly #share = new FairShare(maxMisses, guaranteedMisses);
  /** Total refusals: misses in progress, and places in the transform queue. */
  readonly refused = { misses: 0, queue: 0 };

  constructor(transforms: TransformQueue) {
    this.#transforms = transforms;
  }

  /** @throws ServiceError overloaded, when too many misses are in progress */
  admit(owner: Owner): Permit {
    if (!this.#share.take(owner, 1)) throw this.#refuse('misses');
    const reserve = (project: string) => this.reserve(project);
    return new Permit(reserve, () => this.#share.release(owner, 1));
  }

  /** Whether the transform queue has no place for a live request. */
  isFull(project: string): boolean {
    return this.#transforms.isFull(project);
  }

  /** @throws ServiceError overloaded, when it is full */
  requirePlace(project: string): void {
    if (this.isFull(project)) throw this.#refuse('queue');
  }

  /**
   * Reserves a place in the transform queue for a live request, until the returned function is called.
   * @throws ServiceError overloaded
   */
  reserve(project: string): () => void {
    this.requirePlace(project);
    return this.#transforms.reserve(project);
  }

  #refuse(reason: keyof Admission['refused']): ServiceError {
    this.refused[reason] += 1;
    return refusal;
  }
}
