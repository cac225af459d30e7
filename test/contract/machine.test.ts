import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { findMachine } from '../../contract/machine.ts';
import { temporaryFolder } from '../temporary-root.ts';

const mebibyte = 2 ** 20;

/** Returns what a process of these groups finds, given the files of `/sys/fs/cgroup`. */
async function find(membership: string, files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder(t);
  for (const [name, text] of Object.entries({ ...files, membership })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), `${text}\n`);
  }
  const { cores, memoryBytes } = findMachine(folder, join(folder, 'membership'));
  return [cores, memoryBytes / mebibyte];
}

const machine = findMachine();
const all = [machine.cores, machine.memoryBytes / mebibyte];

t.test('finds the limits of a container in control groups of either version', async (t) => {
  t.same(
    await find('0::/', { 'cpu.max': '50000 100000', 'memory.max': `${64 * mebibyte}` }),
    [0.5, 64],
    'version 2, with its own root',
  );
  t.same(
    await find('12:cpu,cpuacct:/docker/1f\n4:memory:/docker/1f\n1:name=systemd:/', {
      'cpu,cpuacct/cpu.cfs_quota_us': '25000',
      'cpu,cpuacct/cpu.cfs_period_us': '50000',
      'memory/memory.limit_in_bytes': `${64 * mebibyte}`,
    }),
    [0.5, 64],
    'version 1, whose paths a container does not see',
  );
});

t.test('finds the smallest limit among the groups around a process', async (t) => {
  t.same(
    await find('0::/images.slice/images.service', {
      'images.slice/memory.max': `${64 * mebibyte}`,
      'images.slice/cpu.max': 'max 100000',
      'images.slice/images.service/memory.max': 'max',
      'images.slice/images.service/memory.high': `${96 * mebibyte}`,
      'images.slice/images.service/cpu.max': '10000 100000',
    }),
    [0.1, 64],
  );
  t.same(
    await find('4:memory:/a/b\n1:cpu:/\n0::/', {
      'memory/a/memory.limit_in_bytes': `${64 * mebibyte}`,
      'memory/a/b/memory.limit_in_bytes': '9223372036854771712',
      'cpu/cpu.cfs_quota_us': '-1',
      'cpu/cpu.cfs_period_us': '100000',
      'unified/cpu.max': '10000 100000',
    }),
    [0.1, 64],
    'both versions',
  );
});

t.test('finds the machine without limits', async (t) => {
  t.ok(machine.cores > 0 && machine.cores <= availableParallelism());
  t.ok(machine.memoryBytes > 64 * mebibyte && machine.memoryBytes <= totalmem());
  t.same(await find('', {}), all);
  t.same(await find('0::/', { 'cpu.max': 'max 100000', 'memory.max': 'max' }), all);
  const outside = { 'memory.max': `${64 * mebibyte}` };
  t.same(await find('0::/../../other', outside), [machine.cores, 64], 'a path outside of its root');
});
