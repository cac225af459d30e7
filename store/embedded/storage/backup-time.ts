import { open } from 'node:fs/promises';

/**
 * The backup's data time follows its last page, where lmdb does not read, so copies of the file
 * keep it.
 */
const label = 'image-delivery backup of ';
const blockBytes = 4096;

export async function writeBackupTime(file: string, time: Date): Promise<void> {
  const block = Buffer.alloc(blockBytes);
  block.write(label + time.toISOString());
  const handle = await open(file, 'a');
  try {
    await handle.writeFile(block);
  } finally {
    await handle.close();
  }
}

/** Returns the backup's data time, or null for a backup by an earlier version. */
export async function readBackupTime(file: string): Promise<Date | null> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const block = Buffer.alloc(blockBytes);
    await handle.read(block, 0, blockBytes, Math.max(0, size - blockBytes));
    const text = block.toString('latin1').replaceAll('\0', '');
    const time = new Date(text.startsWith(label) ? text.slice(label.length) : Number.NaN);
    return Number.isNaN(time.getTime()) ? null : time;
  } finally {
    await handle.close();
  }
}
