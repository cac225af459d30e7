import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the ids of a process and its descendants, from /proc. */
export async function processTree(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    threads.map((id) => readFile(`/proc/${pid}/task/${id}/children`, 'utf8').catch(() => '')),
  );
  const ids = children.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
  return [pid, ...(await Promise.all(ids.map(processTree))).flat()];
}

/** The resident memory of a process in bytes; 0 when it has ended. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
}

/** The resident memory of a process and its descendants, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const ids = await processTree(pid);
  return sum(await Promise.all(ids.map(residentBytes))) / 2 ** 20;
}

/** Runs `work`, and returns its result with the highest resident memory meanwhile, in MiB, read ten times per second. */
export async function withPeakMemory<T>(pid: number, work: () => Promise<T>) {
  let isDone = false;
  let peakMiB = 0;
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    peakMiB = Math.max(peakMiB, await residentMiB(pid));
    await Promise.race([working, sleep(100)]);
  }
  return { result: await working, peakMiB };
}

/** The unit of processor time on Linux, on all of its platforms (`USER_HZ`). */
const tickMs = 10;

/** The processor time of a process and its descendants, user and system, in ms; NaN without /proc. */
export async function processorMs(pid: number): Promise<number> {
  const times = (await processTree(pid)).map(async (id) => {
    const text = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
    // The name before the last parenthesis can contain spaces; user and system time are the fields
    // 14, 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return tickMs * (Number(fields[11]) + Number(fields[12]));
  });
  return sum(await Promise.all(times));
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
