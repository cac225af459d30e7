import { brotliDecompressSync } from 'node:zlib';
import { asBuffer, parseBytes } from '../bytes.ts';
import { boxes, type ContainerBox } from '../container/boxes.ts';
import { corrupt, unsupported } from '../errors.ts';
import { requireConvertible } from '../metadata/cicp.ts';
import { withoutOrientation } from '../metadata/exif.ts';

/** The parts of a JPEG XL file that decoders get. */
export interface JxlParts {
  readonly codestream: Uint8Array;
  /** EXIF of the upright image; null if absent, malformed or too large. */
  readonly exif: Uint8Array | null;
  readonly xmp: Uint8Array | null;
}

/** Maximum bytes of EXIF and of XMP, even after decompression. */
const maxMetadataBytes = 2 ** 20;

/**
 * Reads a bare codestream, or a codestream in boxes (ISO/IEC 18181-2). Omits other boxes, such as
 * data for restoring a JPEG, so decoders never decompress them.
 *
 * @param needsMetadata false omits EXIF and XMP
 * @throws ServiceError source_corrupt, source_too_large for too many boxes
 */
export function jxlParts(source: Uint8Array, needsMetadata: boolean): JxlParts {
  const file = asBuffer(source);
  if (file[0] === 0xff) return { codestream: source, exif: null, xmp: null };
  const all = parseBytes(
    () => boxes(file),
    () => corrupt('The source has a JPEG XL box that extends beyond the file.'),
  );
  // Reads only the first box of a type, because each of thousands could decompress to the limit.
  const metadata = (wanted: string): Buffer | null => {
    const box = needsMetadata
      ? all.find((candidate) => contentType(candidate) === wanted)
      : undefined;
    return box === undefined ? null : readContent(box);
  };
  return {
    codestream: readCodestream(all),
    exif: readExif(metadata('Exif')),
    xmp: metadata('xml '),
  };
}

/** Reads a single box, or several with sequence numbers; the highest bit marks the last. */
function readCodestream(all: readonly ContainerBox[]): Uint8Array {
  const whole = all.find(({ type }) => type === 'jxlc');
  if (whole !== undefined) return whole.data;
  const parts = all.filter(({ type, data }) => type === 'jxlp' && data.length >= 4);
  if (parts.length === 0) throw corrupt('The source is a JPEG XL file without an image.');
  return Buffer.concat(parts.map(({ data }) => data.subarray(4)));
}

/** Returns a box's type, or the type of the box compressed inside it. */
const contentType = ({ type, data }: ContainerBox): string =>
  type === 'brob' ? data.toString('latin1', 0, 4) : type;

/** Returns a box's decompressed content; null if damaged or above the limit. */
function readContent({ type, data }: ContainerBox): Buffer | null {
  if (type !== 'brob') return data.length > maxMetadataBytes ? null : data;
  try {
    return brotliDecompressSync(data.subarray(4), { maxOutputLength: maxMetadataBytes });
  } catch {
    return null;
  }
}

/** Returns the EXIF, which follows a four-byte offset and as many bytes as it states. */
function readExif(box: Buffer | null): Buffer | null {
  if (box === null || box.length < 4) return null;
  const start = 4 + box.readUInt32BE(0);
  return start < box.length ? withoutOrientation(box.subarray(start)) : null;
}

/** JPEG XL properties from the codestream's start. */
export interface JxlHeader {
  /** Pixels, upright. */
  readonly width: number;
  readonly height: number;
  /** Bits per sample; for floating-point samples, including the exponent. */
  readonly bits: number;
  /** Whether colours are stored multiplied by alpha. */
  readonly premultiplied: boolean;
  readonly hasAlpha: boolean;
}

/** Sides that follow from the height (ISO/IEC 18181-1, size header). */
const ratios = [
  [1, 1],
  [12, 10],
  [4, 3],
  [3, 2],
  [16, 9],
  [5, 4],
  [2, 1],
] as const;

const channelTypes: Readonly<Record<number, string>> = {
  1: 'depth',
  2: 'a spot colour',
  3: 'a selection mask',
  4: 'black',
  5: 'a colour filter',
  6: 'heat',
};
const alpha = 0;

const colours = { grey: 1, xyb: 2 } as const;
const custom = 2;

/**
 * Reads a codestream's header (ISO/IEC 18181-1, image header). Loops only over its extra channels.
 *
 * @param codestream its first bytes
 * @throws ServiceError source_unsupported for features that libvips decodes wrongly;
 *   source_corrupt
 */
export function readJxlHeader(codestream: Uint8Array): JxlHeader {
  const bits = new Bits(codestream);
  const signature = bits.take(16);
  if (signature !== 0x0aff) throw corrupt('The source cannot be read as JPEG XL.');
  const size = readSize(bits);
  if (bits.flag()) {
    return { ...size, bits: 8, premultiplied: false, hasAlpha: false };
  }
  let orientation = 1;
  if (bits.flag()) {
    orientation = 1 + bits.take(3);
    if (bits.flag()) readSize(bits);
    if (bits.flag()) skipPreviewSize(bits);
    if (bits.flag()) skipTiming(bits);
  }
  const depth = readDepth(bits);
  bits.flag();
  const alphaKind = readOnlyAlpha(bits);
  // XYB, which decoders convert to the colours that follow.
  bits.flag();
  requireConvertibleColours(bits);
  const isTurned = orientation >= 5;
  const [width, height] = isTurned ? [size.height, size.width] : [size.width, size.height];
  const premultiplied = alphaKind === 'premultiplied';
  return { width, height, bits: depth, premultiplied, hasAlpha: alphaKind !== null };
}

function readSize(bits: Bits): { readonly width: number; readonly height: number } {
  const isSmall = bits.flag();
  const side = () =>
    isSmall ? 8 * (bits.take(5) + 1) : bits.choose([1, 9], [1, 13], [1, 18], [1, 30]);
  const height = side();
  const ratio = ratios[bits.take(3) - 1];
  return {
    width: ratio === undefined ? side() : Math.floor((height * ratio[0]) / ratio[1]),
    height,
  };
}

function skipPreviewSize(bits: Bits): void {
  const isSmall = bits.flag();
  const side = () =>
    isSmall
      ? bits.choose([16, 0], [32, 0], [1, 5], [33, 9])
      : bits.choose([1, 6], [65, 8], [321, 10], [1345, 12]);
  side();
  if (bits.take(3) === 0) side();
}

function skipTiming(bits: Bits): void {
  bits.choose([100, 0], [1000, 0], [1, 10], [1, 30]);
  bits.choose([1, 0], [1001, 0], [1, 8], [1, 10]);
  bits.choose([0, 0], [0, 3], [0, 16], [0, 32]);
  bits.flag();
}

function readDepth(bits: Bits): number {
  if (!bits.flag()) return bits.choose([8, 0], [10, 0], [12, 0], [1, 6]);
  const depth = bits.choose([32, 0], [16, 0], [24, 0], [1, 6]);
  bits.take(4);
  return depth;
}

/**
 * libvips mistakes other channels for colours or alpha, or fails.
 *
 * @returns whether colours are multiplied by alpha; null if there is no alpha
 */
function readOnlyAlpha(bits: Bits): 'premultiplied' | 'separate' | null {
  const count = bits.choose([0, 0], [1, 0], [2, 4], [1, 12]);
  let premultiplied = false;
  for (let index = 0; index < count; index += 1) {
    // 8-bit alpha, not premultiplied.
    if (bits.flag()) {
      if (index > 0) throw moreChannels('a second alpha');
      continue;
    }
    const type = bits.enumeration();
    readDepth(bits);
    bits.choose([0, 0], [3, 0], [4, 0], [1, 3]);
    const nameLength = bits.choose([0, 0], [0, 4], [16, 5], [48, 10]);
    bits.skip(8 * nameLength);
    if (type !== alpha) throw moreChannels(channelTypes[type] ?? 'unknown');
    if (index > 0) throw moreChannels('a second alpha');
    premultiplied = bits.flag();
  }
  if (count === 0) return null;
  return premultiplied ? 'premultiplied' : 'separate';
}

const moreChannels = (name: string): Error =>
  unsupported(
    `The source is a JPEG XL with an extra channel that is not supported (${name}). To use it: save it without, or as PNG.`,
  );

/** @throws ServiceError source_unsupported for HDR */
function requireConvertibleColours(bits: Bits): void {
  if (bits.flag()) return;
  const hasProfile = bits.flag();
  const space = bits.enumeration();
  if (hasProfile || space === colours.xyb) return;
  const chromaticity = () => {
    for (const _ of 'xy') bits.choose([0, 19], [524_288, 19], [1_048_576, 20], [2_097_152, 21]);
  };
  if (bits.enumeration() === custom) chromaticity();
  if (space !== colours.grey && bits.enumeration() === custom) {
    for (const _ of 'rgb') chromaticity();
  }
  if (bits.flag()) bits.take(24);
  else requireConvertible(bits.enumeration());
}

/** Reads bits, a byte's lowest bit first. */
class Bits {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @param count at most 32 */
  take(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      const byte = this.#bytes[this.#at >> 3];
      if (byte === undefined) throw corrupt('The source ends within its JPEG XL header.');
      if (byte & (1 << (this.#at & 7))) value += 2 ** index;
      this.#at += 1;
    }
    return value;
  }

  skip(count: number): void {
    this.#at += count;
  }

  flag(): boolean {
    return this.take(1) === 1;
  }

  /** Reads a `U32`: one of four ranges, each with its first value and its offset's bits. */
  choose(...ranges: readonly (readonly [first: number, bits: number])[]): number {
    const [first = 0, count = 0] = ranges[this.take(2)] ?? [];
    return first + this.take(count);
  }

  /** Reads an `Enum`. */
  enumeration(): number {
    return this.choose([0, 0], [1, 0], [2, 4], [18, 6]);
  }
}
