import type { EngineSettings } from '../settings.ts';

/** The identifier of this deployment in CDN-Loop headers: its public host and its port (RFC 8586). */
export function loopIdOf({ urls, ports }: EngineSettings['own']): string {
  const [url = 'http://localhost'] = urls;
  return `${new URL(url).hostname}:${ports[0]}`;
}

/** More networks than any request comes through. */
const maxHops = 100;

/** Whether a CDN-Loop header has this identifier: the request was caused by a source fetch. */
export function isLoop(cdnLoop: string, loopId: string): boolean {
  return cdnLoop
    .toLowerCase()
    .split(',', maxHops)
    .some((info) => info.split(';', 1)[0]?.trim() === loopId.toLowerCase());
}
