import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rootPath } from '../root.ts';
import { newFolder } from './app.ts';

const run = promisify(execFile);
const program = join(rootPath, 'sdk/bytes.js');
const recordFile = join(rootPath, 'sdk/peers.json');

interface Peer {
  readonly package: string;
  readonly version: string;
  readonly does: string;
  /** Minified and gzipped. */
  readonly bytes: number;
}

const read = (text: string): readonly Peer[] => JSON.parse(text).packages;
const toLabel = ({ package: name, version, does }: Peer) => `${name} ${version}, ${does}`;

/**
 * Measures the current packages of other services, and prints them next to this package. Resolves
 * with the recorded figures that do not match their versions.
 * @param isRecorded true to record the figures instead
 */
export async function checkBytes(parent: string, isRecorded: boolean): Promise<string[]> {
  const recorded = read(await readFile(recordFile, 'utf8'));
  const names = new Set(recorded.map((peer) => peer.package));
  const folder = await newFolder(join(parent, 'bytes'), [...names]);
  const { stdout } = await run(process.execPath, [program, '--peers', folder]);
  if (isRecorded) await writeFile(recordFile, stdout);
  const { stdout: table } = await run(process.execPath, [program]);
  process.stdout.write(table);
  if (isRecorded) return [];
  return read(stdout).flatMap((peer) => {
    const before = recorded.find(
      (earlier) => earlier.package === peer.package && earlier.does === peer.does,
    );
    const text = `${toLabel(peer)}: ${peer.bytes} bytes, recorded ${before?.bytes}`;
    if (before?.version === peer.version) return before.bytes === peer.bytes ? [] : [text];
    process.stdout.write(`${text} of ${before?.version}; --record writes it\n`);
    return [];
  });
}
