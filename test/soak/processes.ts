import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processTree, residentBytes } from '../../bench/servers/launch.ts';

export const probeFolderVariable = 'IMAGE_DELIVERY_PROBE_FOLDER';

/** Figures of the last second that a process measures of itself (probe.ts). */
export interface ProbeFigures {
  readonly heapBytes: number;
  readonly delayP99Ms: number;
}

export interface ProcessSample extends Partial<ProbeFigures> {
  readonly pid: number;
  readonly role: 'primary' | 'front end' | 'transform process' | 'other';
  readonly rssBytes: number;
  readonly descriptors: number;
}

/**
 * Samples the primary and its running descendants.
 * @param probes folder of the probes' files; null if there are no probes
 */
export async function sampleProcesses(
  primary: number,
  probes: string | null,
): Promise<ProcessSample[]> {
  const samples = (await processTree(primary)).map(async (pid) => {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const probe = probes && (await readFile(join(probes, `${pid}.json`), 'utf8').catch(() => null));
    const sample: ProcessSample = {
      pid,
      role: pid === primary ? 'primary' : toRole(command),
      rssBytes: await residentBytes(pid),
      descriptors: (await readdir(`/proc/${pid}/fd`)).length,
      ...(probe === null ? {} : JSON.parse(probe)),
    };
    return sample;
  });
  const settled = await Promise.allSettled(samples);
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

function toRole(command: string): ProcessSample['role'] {
  if (/server\/front-end-main\.[jt]s/.test(command)) return 'front end';
  return /execution\/process\//.test(command) ? 'transform process' : 'other';
}
