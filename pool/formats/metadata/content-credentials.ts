import { asBuffer } from '../bytes.ts';
import { maxParts } from '../container/examination.ts';
import type { Part, PartRole } from '../container/parts.ts';
import { checkedHeader } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { hasOnlyCopyright } from './copyright.ts';
import { hasOnlyTags } from './exif.ts';

/**
 * Parts that a source can contain next to its manifest: EXIF and XMP once each, and only with
 * copyright.
 */
const harmless: ReadonlySet<PartRole> = new Set([
  'pixels',
  'frame',
  'scan',
  'profile',
  'c2pa',
  'end',
]);

/**
 * EXIF tags (Exif 3.0, 4.6) of the author and the copyright, and the tags of every EXIF: sizes,
 * resolutions, orientation, versions and colour spaces.
 */
const harmlessTags: ReadonlySet<number> = new Set([
  0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0112, 0x0115, 0x011a, 0x011b, 0x011c, 0x0128, 0x013b,
  0x0213, 0x8298, 0x8769, 0x9000, 0x9101, 0xa000, 0xa001, 0xa002, 0xa003,
]);

/**
 * Returns whether a source contains a C2PA manifest (C2PA 2.1, A.3) and no metadata that
 * `keep=copyright` removes. A manifest is valid only while no byte changes, so it cannot survive
 * such a removal.
 */
export async function hasOnlyManifest(source: Uint8Array, format: SourceFormat): Promise<boolean> {
  const { container } = format;
  if (container?.besidesImages !== undefined) return container.besidesImages(source) === 'manifest';
  if (container?.sequential !== true) return false;
  const file = asBuffer(source);
  const counts = { c2pa: 0, exif: 0, xmp: 0 };
  let parts = 0;
  let end = 0;
  for (const part of container.parts(file)) {
    const { role } = part;
    parts += 1;
    end = part.to;
    if (role === 'c2pa' || role === 'exif' || role === 'xmp') counts[role] += 1;
    else if (!isHarmless(part, file) || parts > maxParts) return false;
  }
  const { c2pa, exif, xmp } = counts;
  if (c2pa === 0 || exif > 1 || xmp > 1 || end !== file.length) return false;
  return exif + xmp === 0 || hasOnlyCopyrightMetadata(source, format);
}

function isHarmless({ role, from, to, plain }: Part, file: Buffer): boolean {
  if (plain?.().equals(file.subarray(from, to)) === false) return false;
  // The resolution, which most programs write.
  if (role === 'other') return file.toString('latin1', from + 4, from + 8) === 'pHYs';
  return harmless.has(role);
}

async function hasOnlyCopyrightMetadata(
  source: Uint8Array,
  format: SourceFormat,
): Promise<boolean> {
  const { exif, xmp } = await checkedHeader(source, format);
  return (
    (exif === undefined || hasOnlyTags(exif, harmlessTags)) &&
    (xmp === undefined || hasOnlyCopyright(xmp.toString()))
  );
}
