import type { EngineSettings } from '../settings.ts';

/** The identifier of this deployment in CDN-Loop headers (RFC 8586): its public host and its port. */
export function loopIdOf({ urls, ports }: EngineSettings['own']): string {
  const [url = 'http://localhost'] = urls;
  return `${new URL(url).hostname}:${ports[0]}`;
}

/** More networks than any request comes through. */
const maxHops = 100;

/** True when a CDN-Loop header contains this identifier. */
export function hasLoop(cdnLoop: string, loopId: string): boolean {
  return cdnLoop
    .toLowerCase()
    .split(',', maxHops)
    .some((info) => info.split(';', 1)[0]?.trim() === loopId.toLowerCase());
}
