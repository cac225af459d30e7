import { type PartRole, type Parts, StepLimit } from './parts.ts';

const block = { extension: 0x21, image: 0x2c, trailer: 0x3b } as const;
const label = { graphicControl: 0xf9, application: 0xff } as const;

/** Application extensions with the number of repetitions. */
const loops: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0']);

/** The blocks of a GIF (GIF89a specification); its header is the first part. */
export function* gifParts(file: Buffer): Parts {
  const steps = new StepLimit();
  if (file.length < 13) return;
  const first = 13 + tableBytes(file[10]);
  yield { role: 'pixels', from: 0, to: Math.min(first, file.length) };
  for (let from = first; from < file.length; ) {
    const type = file[from];
    if (type === block.trailer) return yield { role: 'end', from, to: from + 1, last: true };
    const isImage = type === block.image;
    if (!isImage && type !== block.extension) return;
    // The descriptor has 10 bytes; the LZW code size precedes the sub-blocks.
    const blocks = isImage ? from + 10 + tableBytes(file[from + 9]) + 1 : from + 2;
    const to = endOfBlocks(file, blocks, steps);
    if (to === null) return;
    yield { role: isImage ? 'frame' : roleOf(file, from), from, to };
    from = to;
  }
}

function roleOf(file: Buffer, from: number): PartRole {
  const isLoop = loops.has(file.toString('latin1', from + 3, from + 14));
  const type = file[from + 1];
  const isNeeded = type === label.graphicControl || (type === label.application && isLoop);
  return isNeeded ? 'pixels' : 'text';
}

/** Bytes of the colour table that a packed field announces. */
const tableBytes = (packed = 0): number =>
  (packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1);

/** The end of a series of sub-blocks, each preceded by its length, the last of length 0. */
function endOfBlocks(file: Buffer, from: number, steps: StepLimit): number | null {
  for (let at = from; at < file.length; ) {
    steps.take();
    const length = file[at] ?? 0;
    if (length === 0) return at + 1;
    at += 1 + length;
  }
  return null;
}
