import { isatty } from 'node:tty';
import { isOnTerminal, type Logger } from './log.ts';
import type { Settings } from './settings/table.ts';

/**
 * Ignores errors on standard output and standard error, which would end the process if the terminal
 * has closed, no process reads the pipe, or the disk is full. The log handles its own output.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/**
 * Returns whether SIGHUP ends this process, because it was started on a terminal that closes. Other
 * processes run without a terminal, under a service manager or nohup, or are children with a
 * channel, which end with their parent.
 */
export const endsWithTerminal = (): boolean =>
  process.channel === undefined && (isatty(0) || isatty(1));

/** Ends a program: on a signal, when its parent process ends, or after a fatal error. */
export class Shutdown {
  readonly #log: Logger;
  /** Whether the log is text, and a terminal shows it together with standard error. */
  readonly #logsText: boolean;
  readonly #controller = new AbortController();
  /** Aborted when the process is ending. */
  readonly signal = this.#controller.signal;
  readonly #steps: (() => Promise<unknown>)[] = [];
  readonly #announce: () => Promise<unknown>;
  #announced = false;

  /**
   * @param announce notifies senders of requests that the service will stop, and waits until they
   *   have noticed
   */
  constructor(
    log: Logger,
    settings: Pick<Settings, 'logFormat'>,
    announce: () => Promise<unknown> = async () => {},
  ) {
    this.#log = log;
    this.#logsText = isOnTerminal(settings) || settings.logFormat === 'text';
    this.#announce = announce;
    process.on('SIGTERM', () => void this.#terminate());
    // The parent process, `npm start`, has ended.
    process.on('disconnect', () => void this.stop(0));
    if (process.connected === false) void this.stop(0);
    ignoreOutputErrors();
    if (endsWithTerminal()) process.on('SIGHUP', () => void this.stop(0));
    process.on('SIGINT', () => {
      // A second Ctrl-C ends the process without waiting for the requests in progress.
      if (this.signal.aborted || this.#announced) process.exit(130);
      void this.stop(0);
    });
  }

  /**
   * Adds a step of the shutdown. Steps run in reverse order, even after a step that rejects, which
   * makes the exit code at least 1.
   */
  add(end: () => Promise<unknown>): void {
    this.#steps.push(end);
  }

  /**
   * SIGTERM comes from service managers, whose load balancers need time; people on terminals do not
   * wait.
   */
  async #terminate(): Promise<void> {
    if (this.#announced) return;
    this.#announced = true;
    await this.#announce();
    await this.stop(0);
  }

  async stop(exitCode: number): Promise<void> {
    if (this.signal.aborted) return;
    this.#controller.abort();
    this.#log.info('stopping');
    let failed = false;
    for (const end of this.#steps.reverse()) {
      try {
        await end();
      } catch (error) {
        failed = true;
        this.#log.error({ err: error }, 'shutdown step failed');
      }
    }
    this.#log.info('stopped');
    process.exit(failed ? exitCode || 1 : exitCode);
  }

  /**
   * Ends the process with code 1. Logs the reason, and writes it to standard error. A terminal
   * shows both, so there it only logs a reason with an error, and only writes a reason on its own.
   */
  async fail(reason: string, error?: unknown): Promise<never> {
    // Errors during the shutdown are its consequences.
    if (!this.signal.aborted) {
      if (!this.#logsText || error !== undefined) this.#log.fatal({ err: error }, reason);
      if (!this.#logsText || error === undefined) process.stderr.write(`${reason}\n`);
      await this.stop(1);
    }
    return new Promise(() => {});
  }
}
