import { isLive, type Producer, type Work } from './producer.ts';

/** The admission of one miss to the transform queue. */
export class Admission {
  readonly #producer: Producer;
  readonly #work: Work;
  #leave: (() => void) | null = null;

  constructor(producer: Producer, work: Work) {
    this.#producer = producer;
    this.#work = work;
  }

  /**
   * Reserves a place for live work, once.
   * @throws ServiceError overloaded, or that of a watermark or a layer that could not be used recently
   */
  enter(): void {
    if (this.#leave !== null) return;
    this.#leave = isLive(this.#work) ? this.#producer.reserve(this.#work.project) : () => {};
    this.#producer.requireUsableLayers(this.#work);
  }

  /** Releases the place; has no effect without one, or a second time. */
  leave(): void {
    this.#leave?.();
  }
}
