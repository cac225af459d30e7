import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const probeFolderVariable = 'IMAGE_DELIVERY_PROBE_FOLDER';
export const probeEveryMs = 1_000;

/** Figures of the last second that a process measures of itself, by the probe. */
export interface ProcessFigures {
  readonly heapBytes: number;
  readonly delayP99Ms: number;
}

export interface ProcessSample extends Partial<ProcessFigures> {
  readonly pid: number;
  readonly role: 'primary' | 'front end' | 'transform process' | 'other';
  readonly rssBytes: number;
  readonly descriptors: number;
}

/**
 * The process with this id and its descendants, from /proc.
 * @param probes the folder of the probes' files; null without probes
 */
export async function sampleProcesses(
  primary: number,
  probes: string | null,
): Promise<ProcessSample[]> {
  const ids = await familyOf(primary);
  const samples = ids.map(async (pid): Promise<ProcessSample | null> => {
    try {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      const descriptors = (await readdir(`/proc/${pid}/fd`)).length;
      return {
        pid,
        role: pid === primary ? 'primary' : roleOf(command),
        rssBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
        descriptors,
        ...(probes === null ? {} : await readProbe(probes, pid)),
      };
    } catch {
      // It ended meanwhile.
      return null;
    }
  });
  return (await Promise.all(samples)).filter((one) => one !== null);
}

function roleOf(command: string): ProcessSample['role'] {
  if (/server\/front-end-main\.[jt]s/.test(command)) return 'front end';
  return /execution\/process\//.test(command) ? 'transform process' : 'other';
}

async function readProbe(folder: string, pid: number): Promise<Partial<ProcessFigures>> {
  const text = await readFile(join(folder, `${pid}.json`), 'utf8').catch(() => '{}');
  return JSON.parse(text);
}

/** A process and its descendants. */
async function familyOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  );
  const ids = children.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
  const families = await Promise.all(ids.map(familyOf));
  return [pid, ...families.flat()];
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** The resident memory of a process and its descendants, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const processes = await sampleProcesses(pid, null);
  return sum(processes.map(({ rssBytes }) => rssBytes)) / 2 ** 20;
}

/** The unit of processor time on Linux, on all of its platforms (`USER_HZ`). */
const tickMs = 10;

/** The processor time of a process and its descendants, user and system, in ms; NaN without /proc. */
export async function processorMs(pid: number): Promise<number> {
  const times = (await familyOf(pid)).map(async (one) => {
    const text = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
    // The name before the last parenthesis may have spaces; user and system time are the fields 14, 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return tickMs * (Number(fields[11]) + Number(fields[12]));
  });
  return sum(await Promise.all(times));
}
