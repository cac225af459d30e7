import { execFileSync } from 'node:child_process';

/** Returns the pids of a process's direct children. */
export function listChildren(parent: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return table.split('\n').flatMap((line) => {
    const [pid = '', ppid, program = ''] = line.trim().split(/\s+/);
    return Number(ppid) === parent && program !== 'ps' ? [Number(pid)] : [];
  });
}
