import { asBuffer } from '../bytes.ts';
import { type PartRole, type Parts, StepLimit } from '../container/examination.ts';

export const block = { extension: 0x21, image: 0x2c, trailer: 0x3b } as const;
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
export const tableBytes = (packed = 0): number =>
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

/** Bits in the packed field of a graphic control extension (23). */
const control = { transparent: 1, disposal: 0b11100, toBackground: 0b01000 } as const;
/** No pixel uses it if colours have fewer than 8 bits. */
const unusedColour = 255;

/**
 * Adds an unused transparent colour to a GIF, in a copy, if uncovered areas are visible and no
 * colour is transparent: browsers show such areas as transparent, libvips as black. Returns the
 * same bytes if every frame uses 256 colours.
 */
export function withGifTransparency(source: Uint8Array): Uint8Array {
  const file = asBuffer(source);
  /** Whether the image is transparent outside the next frame. */
  let isClear = true;
  let isVisible = false;
  /** The graphic control extension of the frame to come. */
  let extension: number | null = null;
  let place: { readonly frame: number; readonly extension: number | null } | null = null;
  for (const { role, from } of gifParts(file)) {
    if (role === 'frame') {
      const codeSize = file[from + 10 + tableBytes(file[from + 9])] ?? 8;
      if (codeSize < 8) place ??= { frame: from, extension };
      isVisible ||= isClear && !covers(file, from);
      const packed = extension === null ? 0 : (file[extension + 3] ?? 0);
      isClear = (packed & control.disposal) === control.toBackground;
      extension = null;
    } else if (file[from] === block.extension && file[from + 1] === label.graphicControl) {
      if (file[from + 2] !== 4 || ((file[from + 3] ?? 0) & control.transparent) !== 0)
        return source;
      extension = from;
    }
  }
  if (!isVisible || place === null) return source;
  const { transparent } = control;
  if (place.extension === null) {
    const { frame } = place;
    const added = [block.extension, label.graphicControl, 4, transparent, 0, 0, unusedColour, 0];
    return Buffer.concat([file.subarray(0, frame), Buffer.from(added), file.subarray(frame)]);
  }
  const copy = Buffer.from(file);
  copy.writeUInt8((file[place.extension + 3] ?? 0) | transparent, place.extension + 3);
  copy.writeUInt8(unusedColour, place.extension + 6);
  return copy;
}

/** Returns whether a frame covers the whole image. */
function covers(file: Buffer, frame: number): boolean {
  const [left, top, width, height] = [1, 3, 5, 7].map((at) => file.readUInt16LE(frame + at));
  const isWhole = width === file.readUInt16LE(6) && height === file.readUInt16LE(8);
  return left === 0 && top === 0 && isWhole;
}
