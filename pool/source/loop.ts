import type { EngineSettings } from '../settings.ts';

/** This deployment in a CDN-Loop header: the address that it is known by (RFC 8586, cdn-id). */
export function loopIdOf({ hosts, port }: EngineSettings['own']): string {
  return `${hosts[0] ?? 'localhost'}:${port}`;
}

/** Whether a CDN-Loop header names a service: the request then began as its own source fetch. */
export function isLoop(cdnLoop: string, loopId: string): boolean {
  return cdnLoop
    .toLowerCase()
    .split(',')
    .some((info) => info.split(';')[0]?.trim() === loopId.toLowerCase());
}
