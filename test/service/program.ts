import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { until } from '../until.ts';

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A process that runs a built program of the service, and its output. */
export class Program {
  readonly process: ChildProcess;
  /** All log lines so far. */
  readonly log: LogLine[] = [];
  readonly #ended: Promise<number | NodeJS.Signals | null>;
  /** True once the process has ended and all of its output has been read. */
  #isClosed = false;
  #stdout = '';
  #stderr = '';

  constructor(child: ChildProcess) {
    this.process = child;
    this.#ended = new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve(code ?? signal)),
    );
    child.once('close', () => {
      this.#isClosed = true;
    });
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => this.#read(line));
    }
    child.stderr?.on('data', (text) => {
      this.#stderr += text;
    });
  }

  stdout = (): string => this.#stdout;
  stderr = (): string => this.#stderr;

  /** Returns the log lines with a message so far. */
  logged(message: string): LogLine[] {
    return this.log.filter(({ msg }) => msg === message);
  }

  /** Resolves when the log has this number of lines with the message; rejects after a timeout. */
  async untilLogged(message: string, count = 1): Promise<void> {
    const what = `${count} x '${message}' in the log`;
    await this.#until(what, () => this.logged(message).length >= count);
  }

  /**
   * Resolves with the first matching log line, past or future. Rejects once the program has ended.
   */
  waitForLog(fits: (line: LogLine) => boolean): Promise<LogLine> {
    return this.#until('the log line', () => {
      const line = this.log.find(fits);
      if (line === undefined && this.#isClosed) throw new Error('the program has ended');
      return line;
    });
  }

  /** Sends a signal, if any; resolves with the exit code or the signal that ended the process. */
  async end(signal: NodeJS.Signals | null = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
    if (signal !== null) this.process.kill(signal);
    return this.#ended;
  }

  async #until<Value>(what: string, look: () => Value | undefined | false): Promise<Value> {
    try {
      return await until(what, look);
    } catch (error) {
      throw new Error(`${error}\n${this.#stderr}\n${this.#stdout.slice(-4_000)}`);
    }
  }

  #read(line: string): void {
    this.#stdout += `${line}\n`;
    if (line.startsWith('{')) this.log.push(JSON.parse(line));
  }
}
