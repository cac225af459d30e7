import { type Logger, pino } from 'pino';
import type { LogLevel } from './settings/table.ts';

export type { Logger } from 'pino';

/**
 * JSON lines on standard output, written before the call returns, so that the last words of a
 * dying process are not lost.
 */
export function createLogger(level: LogLevel, part: string): Logger {
  return pino({ level, base: { part, pid: process.pid } }, pino.destination({ sync: true }));
}
