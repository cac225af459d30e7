/** Tracks open resources, such as servers and temporary folders, and closes them. */
export class Opened {
  readonly #all: { close(): Promise<unknown> }[] = [];

  async open<T extends { close(): Promise<unknown> }>(starting: T | Promise<T>): Promise<T> {
    const one = await starting;
    this.#all.push(one);
    return one;
  }

  /** Closes all, the last first. */
  async close(): Promise<void> {
    for (const one of this.#all.splice(0).reverse()) await one.close();
  }
}
