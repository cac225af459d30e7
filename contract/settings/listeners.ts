import type { SettingName, Settings } from './table.ts';

/** A listener, by the setting of its port: the public one, the service's and the worker's for operators. */
export type Listener = 'port' | 'opsPort' | 'workerPort';

const hostOf = { port: 'host', opsPort: 'opsHost', workerPort: 'workerHost' } as const;

/** These listen on all addresses of the machine. */
const everywhere = new Set(['0.0.0.0', '::']);

const overlap = (host: string, other: string): boolean =>
  host === other || everywhere.has(host) || everywhere.has(other);

export interface SharedPortsOptions {
  /** Those that the program starts. */
  readonly listeners: readonly Listener[];
  /** Whether the value of a setting is one that it accepts. */
  readonly isValid: (name: SettingName) => boolean;
  /** Under which a setting was given, or would be. */
  readonly nameOf: (name: SettingName) => string;
}

/**
 * A message for each two listeners that have one port at one address: the second to start could not
 * listen. No port (null) and none wanted (0) are no port.
 */
export function sharedPorts(
  settings: Settings,
  { listeners, isValid, nameOf }: SharedPortsOptions,
): string[] {
  const known = listeners.filter((one) => settings[one] && isValid(one) && isValid(hostOf[one]));
  return known.flatMap((one, index) =>
    known.slice(index + 1).flatMap((other) => {
      const [host, otherHost] = [settings[hostOf[one]], settings[hostOf[other]]];
      if (settings[one] !== settings[other] || !overlap(host, otherHost)) return [];
      return [
        `${nameOf(one)} and ${nameOf(other)} are both ${settings[one]}, on ${host} and ${otherHost}: set different ports`,
      ];
    }),
  );
}
