import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

/** What this process can use of its machine: less if a container or a service manager limits it. */
export interface Machine {
  /** A CPU quota can be a fraction. */
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * Reads the limits of this process's control groups and of those around them: Node 20 reads neither
 * CPU quotas nor the limits of outer groups, such as a systemd slice's.
 *
 * @param folder of the control groups, version 1, 2 or both
 * @param membership the file that lists this process's groups (cgroups(7))
 */
export function findMachine(folder = '/sys/fs/cgroup', membership = '/proc/self/cgroup'): Machine {
  const groups = listGroups(folder, read(membership));
  const smallest = (limit: (group: string) => number) => Math.min(...groups.map(limit));
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return {
    cores: Math.min(availableParallelism(), smallest(cpuQuota)),
    memoryBytes: Math.min(totalmem(), constrained, smallest(memoryLimit)),
  };
}

/** Returns the folders of the groups, from each group to its root, which a container has as its own. */
function listGroups(folder: string, membership: string): readonly string[] {
  return membership.split('\n').flatMap((line) => {
    const [, controllers = '-', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const parts = path.split('/').filter((part) => part !== '' && part !== '..');
    return controllers
      .split(',')
      .flatMap((name) => mounts[name] ?? [])
      .flatMap((mount) => [
        join(folder, mount),
        ...parts.map((_, end) => join(folder, mount, ...parts.slice(0, end + 1))),
      ]);
  });
}

/** Where systems mount the controllers; version 2 has one hierarchy without a name. */
const mounts: Readonly<Record<string, readonly string[]>> = {
  '': ['', 'unified'],
  cpu: ['cpu', 'cpu,cpuacct'],
  memory: ['memory'],
};

/** Returns cores: `cpu.max` contains `50000 100000`, the microseconds of CPU time in a period. */
function cpuQuota(group: string): number {
  const [quota = '', period] = (
    read(join(group, 'cpu.max')) ||
    `${read(join(group, 'cpu.cfs_quota_us'))} ${read(join(group, 'cpu.cfs_period_us'))}`
  ).split(' ');
  return toLimit(quota) / (Number(period) || 100_000);
}

const memoryLimit = (group: string): number =>
  Math.min(
    ...['memory.max', 'memory.high', 'memory.limit_in_bytes'].map((file) =>
      toLimit(read(join(group, file))),
    ),
  );

/** Without a limit, the files are missing or contain `max` or -1. */
const toLimit = (text: string): number =>
  Number(text) > 0 ? Number(text) : Number.POSITIVE_INFINITY;

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
