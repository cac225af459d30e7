/** Tracks open resources, such as servers and temporary folders, and closes them. */
export class OpenResources {
  readonly #all: { close(): Promise<unknown> }[] = [];

  async open<T extends { close(): Promise<unknown> }>(starting: T | Promise<T>): Promise<T> {
    const resource = await starting;
    this.#all.push(resource);
    return resource;
  }

  /** Closes all, the last first. */
  async close(): Promise<void> {
    for (const resource of this.#all.splice(0).reverse()) await resource.close();
  }
}
