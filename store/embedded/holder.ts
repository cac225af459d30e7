import { readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** The process that holds a lock, as the lock says. */
export interface Holder {
  readonly pid: number;
  /** Tells the process from a later one with its number; null where the system does not say. */
  readonly started: string | null;
  /** The pid namespace in which the number means something; null where there are none. */
  readonly namespace: string | null;
  /** Where it listens, or is going to. */
  readonly socket: string;
}

export async function thisProcess(socket: string): Promise<Holder> {
  return {
    pid: process.pid,
    started: await processStart(process.pid),
    namespace: await pidNamespace(),
    socket,
  };
}

/** Reads what {@link thisProcess} wrote; null when it is nothing of the kind. */
export function parseHolder(target: string): Holder | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(target);
  } catch {
    return null;
  }
  return isHolder(parsed) ? parsed : null;
}

function isHolder(value: unknown): value is Holder {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    Number.isSafeInteger(value.pid) &&
    'started' in value &&
    isTextOrNull(value.started) &&
    'namespace' in value &&
    isTextOrNull(value.namespace) &&
    'socket' in value &&
    typeof value.socket === 'string'
  );
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

/** Whether the very process that took the lock is still there. */
export async function isAlive(holder: Holder): Promise<boolean> {
  // A process number from another container says nothing here; whether it listens does.
  if (holder.namespace !== (await pidNamespace())) return listens(holder.socket);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
  }
  const started = await processStart(holder.pid);
  return started === null || started === holder.started;
}

/**
 * A text that a process keeps for life and that no other process with its number shares: the
 * system's boot and the time since. That of a process which is dead but not yet collected is
 * `dead`. Null where the system does not say.
 */
async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The second field is a name in parentheses, which may hold anything, so count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return state === 'Z' || state === 'X' ? 'dead' : `${boot.trim()}/${fields[19] ?? ''}`;
}

async function pidNamespace(): Promise<string | null> {
  return readlink('/proc/self/ns/pid').catch(() => null);
}

function listens(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
