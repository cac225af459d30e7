import { isatty } from 'node:tty';

/**
 * Whether this process was started by hand on a terminal: then SIGHUP says that the terminal closes, and
 * the process ends. Under a service manager or nohup there is none. A process that another one of the
 * service has started, with a channel to it, ends with that one.
 */
export const endsWithTerminal = (): boolean =>
  process.channel === undefined && (isatty(0) || isatty(1));

/**
 * What cannot be written to standard output and error goes nowhere, and ends no process: the terminal has
 * closed, nobody reads the pipe, or the disk is full. The log is apart: it has a writer of its own.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
