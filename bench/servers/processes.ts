import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const probeFolderVariable = 'IMAGE_DELIVERY_PROBE_FOLDER';
export const probeEveryMs = 1_000;

/** What a process measures of itself, by the probe: of the last second. */
export interface ProcessFigures {
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
}

export interface ProcessSample extends Partial<ProcessFigures> {
  readonly pid: number;
  readonly role: 'primary' | 'front end' | 'transform process' | 'other';
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly threads: number;
}

/**
 * The process with this id and those that it has started, from /proc.
 * @param probes the folder of the probes' files; null when the service runs without them
 */
export async function sampleProcesses(
  primary: number,
  probes: string | null,
): Promise<ProcessSample[]> {
  const ids = await familyOf(primary);
  const samples = ids.map((pid) => sample(pid, primary, probes));
  return (await Promise.all(samples)).filter((one) => one !== null);
}

async function sample(
  pid: number,
  primary: number,
  probes: string | null,
): Promise<ProcessSample | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const descriptors = (await readdir(`/proc/${pid}/fd`)).length;
    const figure = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return {
      pid,
      role: pid === primary ? 'primary' : roleOf(command),
      rssBytes: figure('VmRSS') * 1024,
      descriptors,
      threads: figure('Threads'),
      ...(probes === null ? {} : await readProbe(probes, pid)),
    };
  } catch {
    // It ended meanwhile.
    return null;
  }
}

function roleOf(command: string): ProcessSample['role'] {
  if (/server\/process\.[jt]s/.test(command)) return 'front end';
  return /transform\/process\//.test(command) ? 'transform process' : 'other';
}

async function readProbe(folder: string, pid: number): Promise<Partial<ProcessFigures>> {
  const text = await readFile(join(folder, `${pid}.json`), 'utf8').catch(() => null);
  return text === null ? {} : JSON.parse(text);
}

/** A process and its descendants. */
export async function familyOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  );
  const ids = children.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
  const families = await Promise.all(ids.map(familyOf));
  return [pid, ...families.flat()];
}
