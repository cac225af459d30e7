import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';

const separator = '|';

/** The process that holds a lock. */
export interface LockOwner {
  readonly pid: number;
  /** Distinguishes the process from a later one with the same pid; null where not available. */
  readonly started: string | null;
  /** The pid's namespace; null on systems without namespaces. */
  readonly namespace: string | null;
  /** The socket path. The process might not listen yet. */
  readonly socket: string;
}

export async function thisProcess(socket: string): Promise<LockOwner> {
  return {
    pid: process.pid,
    started: await processStart(process.pid),
    namespace: await pidNamespace(),
    socket,
  };
}

/**
 * Formats a lock's text. File systems such as ext4 store a symbolic link's target in the directory
 * entry if it is shorter than 60 bytes, so the lock can be created on a full disk.
 * @param defaultSocket omitted from the text if the holder uses it
 */
export function formatLockOwner(
  { pid, started, namespace, socket }: LockOwner,
  defaultSocket: string,
) {
  const fields = [pid, started ?? '', namespace ?? ''];
  return (socket === defaultSocket ? fields : [...fields, socket]).join(separator);
}

/** Null for text that {@link formatLockOwner} did not write. */
export function parseLockOwner(target: string, defaultSocket: string): LockOwner | null {
  const [pid = '', started = '', namespace = '', ...path] = target.split(separator);
  if (!/^\d+$/.test(pid)) return null;
  const socket = path.length > 0 ? path.join(separator) : defaultSocket;
  return { pid: Number(pid), started: started || null, namespace: namespace || null, socket };
}

/** Whether the process is still running. */
export async function isAlive(holder: LockOwner): Promise<boolean> {
  // A pid from another container is meaningless here, so check the socket instead.
  if (holder.namespace !== (await pidNamespace())) return listens(holder.socket);
  const started = await processStart(holder.pid);
  // Last, because the parent can reap the process while its start time is being read.
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === null || started === holder.started;
}

/**
 * Identifies a process among others with the same pid: a hash of the boot id and the start time since
 * boot. `dead` for a zombie process; null on systems without /proc.
 */
async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The second field is a name in parentheses with arbitrary characters, so count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  if (state === 'Z' || state === 'X') return 'dead';
  const hash = createHash('sha256').update(`${boot.trim()}/${fields[19] ?? ''}`);
  return hash.digest('base64url').slice(0, 16);
}

async function pidNamespace(): Promise<string | null> {
  const name = await readlink('/proc/self/ns/pid').catch(() => null);
  return name?.replace(/\D/g, '') ?? null;
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
