import { asBuffer } from '../bytes.ts';
import { type PartRole, type Parts, StepLimit } from '../container/examination.ts';

const block = { extension: 0x21, image: 0x2c, trailer: 0x3b } as const;
const label = { graphicControl: 0xf9, application: 0xff } as const;

/** Application extensions with the number of repetitions. */
const loops: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0']);

/** Yields a GIF's blocks (GIF89a specification), starting with its header. */
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
    yield { role: isImage ? 'frame' : readRole(file, from), from, to };
    from = to;
  }
}

function readRole(file: Buffer, from: number): PartRole {
  const isLoop = loops.has(file.toString('latin1', from + 3, from + 14));
  const type = file[from + 1];
  const isNeeded = type === label.graphicControl || (type === label.application && isLoop);
  return isNeeded ? 'pixels' : 'text';
}

/** Returns the size in bytes of the colour table that a packed field announces. */
const tableBytes = (packed = 0): number =>
  (packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1);

/** Returns the end of a series of sub-blocks, each preceded by its length; the last is empty. */
function endOfBlocks(file: Buffer, from: number, steps: StepLimit): number | null {
  for (let at = from; at < file.length; ) {
    steps.take();
    const length = file[at] ?? 0;
    if (length === 0) return at + 1;
    at += 1 + length;
  }
  return null;
}

/** Ends a GIF that lacks its end, in a copy; returns the same bytes for other files. */
export function withGifEnd(source: Uint8Array): Uint8Array {
  const file = asBuffer(source);
  let [end, frames] = [0, 0];
  for (const { role, to } of gifParts(file)) {
    if (role === 'end') return source;
    if (role === 'frame') frames += 1;
    end = to;
  }
  const trailer = Buffer.of(block.trailer);
  const data = end + 11 + tableBytes(file[end + 9]);
  if (file[end] !== block.image || data >= file.length) {
    return frames > 0 ? Buffer.concat([file.subarray(0, end), trailer]) : source;
  }
  let last = data;
  for (let at = data; at < file.length; at += 1 + (file[at] ?? 0)) last = at;
  const copy = Buffer.concat([file, Buffer.of(0), trailer]);
  copy.writeUInt8(file.length - last - 1, last);
  return copy;
}
