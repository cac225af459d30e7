import { brotliDecompressSync } from 'node:zlib';
import { asBuffer, parseBytes } from '../bytes.ts';
import { boxes, type ContainerBox } from '../container/boxes.ts';
import { corrupt } from '../errors.ts';
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
    () => corrupt('The source has a JPEG XL box that is not inside the file.'),
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
