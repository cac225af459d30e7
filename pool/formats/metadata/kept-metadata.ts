import { asBuffer } from '../bytes.ts';
import { checkedHeader } from '../file.ts';
import type { Container, SourceFormat } from '../source-format.ts';
import { withoutThumbnail } from './exif.ts';
import { filteredXmp } from './xmp.ts';

/** Metadata of a source for an output with changed pixels. */
export interface KeptMetadata {
  /** The source with the EXIF to keep; the same bytes if they needed no change. */
  readonly source: Uint8Array;
  /** `dropped` if unreadable. */
  readonly exif: 'none' | 'kept' | 'dropped';
  /** Replaces the source's XMP; null keeps it, '' drops unreadable XMP. */
  readonly xmp: string | null;
}

/** Limit of EXIF and of XMP, because every step of the pipeline copies them. */
const maxKeptBytes = 2 ** 20;

/**
 * Removes the thumbnail from the EXIF, and a gain map's description from the XMP. sharp cannot
 * change kept EXIF, so this function changes the source.
 */
export async function keptMetadata(container: Container): Promise<KeptMetadata> {
  const { bytes: source, format } = container;
  const { exif, xmp } = await checkedHeader(source, format);
  const kept = { source, xmp: xmp === undefined ? null : replacement(xmp) };
  if (exif === undefined) return { ...kept, exif: 'none' };
  const plain = exif.length > maxKeptBytes ? null : withoutThumbnail(exif);
  if (plain === exif) return { ...kept, exif: 'kept' };
  const changed = plain && withExif(container, exif, plain);
  // A malformed file can contain another copy of the EXIF, which libvips uses.
  if (changed === null || (await hasThumbnail(changed, format)))
    return { ...kept, exif: 'dropped' };
  return { ...kept, source: changed, exif: 'kept' };
}

/** See `KeptMetadata.xmp`. */
function replacement(xmp: Buffer): string | null {
  if (xmp.length > maxKeptBytes) return '';
  const packet = xmp.toString();
  const plain = withoutGainMap(packet);
  return plain === packet ? null : (plain ?? '');
}

/** Namespaces that describe a gain map, or more images in the file. */
const gainMapNamespaces: ReadonlySet<string> = new Set([
  'http://ns.adobe.com/hdr-gain-map/1.0/',
  'http://ns.apple.com/HDRGainMap/1.0/',
  'http://ns.google.com/photos/1.0/container/',
]);

/**
 * Removes a gain map's description from XMP. The output contains no gain map, and viewers that look
 * for it would show the image too bright, or not at all.
 *
 * @returns the argument if it describes no gain map; null if it describes one and is unreadable
 */
function withoutGainMap(xmp: string): string | null {
  if (![...gainMapNamespaces].some((namespace) => xmp.includes(namespace))) return xmp;
  try {
    return filteredXmp(xmp, {
      element: ({ uri }) => !gainMapNamespaces.has(uri),
      // The declaration of an unused namespace would still announce a gain map.
      attribute: (uri) => !gainMapNamespaces.has(uri),
    });
  } catch {
    return null;
  }
}

async function hasThumbnail(source: Uint8Array, format: SourceFormat): Promise<boolean> {
  const { exif } = await checkedHeader(source, format);
  return exif !== undefined && withoutThumbnail(exif) !== exif;
}

/** Copies the source with other EXIF of the same length; returns null if the EXIF was not found. */
function withExif({ bytes, exif, format }: Container, from: Buffer, to: Buffer): Buffer | null {
  if (exif === null) return null;
  // libvips omits bytes that a format writes before the EXIF, such as an offset in HEIF.
  const at = exif[1] - from.length;
  if (at < exif[0] || !asBuffer(bytes).subarray(at, exif[1]).equals(from)) return null;
  const copy = Buffer.from(bytes);
  copy.set(to, at);
  format.container?.seal?.(copy, exif);
  return copy;
}
