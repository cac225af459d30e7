import { isatty } from 'node:tty';

/**
 * Whether this process was started by hand on a terminal: then SIGHUP says that the terminal closes, and
 * the process ends. Under a service manager or nohup there is none. A process that another one of the
 * service has started, with a channel to it, ends with that one.
 */
export const endsWithTerminal = (): boolean =>
  process.channel === undefined && (isatty(0) || isatty(1));

/** Lets a process that ends with its terminal do so in order: what it then writes goes nowhere. */
export function outliveTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EIO') throw error;
    });
  }
}
