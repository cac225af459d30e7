import { type ConnectionLimits, Connections } from './connections.ts';
import type { FetchOptions } from './fetch.ts';
import { AddressGuard, type GuardOptions, portOf } from './guard.ts';

/**
 * Connections to hosts that the operator has configured, also in private networks. They are used only for endpoints
 * from the settings, never for URLs from a client.
 */
export class TrustedEndpoints {
  readonly #guardOptions: Omit<GuardOptions, 'privateSources'>;
  readonly #limits: ConnectionLimits;
  readonly #endpoints = new Map<
    string,
    Pick<FetchOptions, 'guard'> & { connections: Connections }
  >();

  constructor(guardOptions: Omit<GuardOptions, 'privateSources'>, limits: ConnectionLimits) {
    this.#guardOptions = guardOptions;
    this.#limits = limits;
  }

  get open(): number {
    let open = 0;
    for (const { connections } of this.#endpoints.values()) open += connections.open;
    return open;
  }

  /** Guard and connections that allow only the scheme, host and port of a URL. */
  at(url: URL): Pick<FetchOptions, 'guard' | 'connections'> {
    const known = this.#endpoints.get(url.origin);
    if (known !== undefined) return known;
    const privateSources = [`${url.hostname}:${portOf(url)}`];
    const guard = new AddressGuard({ ...this.#guardOptions, privateSources });
    const endpoint = { guard, connections: new Connections(guard, this.#limits) };
    this.#endpoints.set(url.origin, endpoint);
    return endpoint;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#endpoints.values()].map((one) => one.connections.destroy()));
  }
}
