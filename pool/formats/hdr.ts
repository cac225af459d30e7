import type { Metadata } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { readHeif } from './container/heif.ts';
import { pngTransfer } from './container/png.ts';
import type { SourceKind } from './kinds.ts';

/** CICP transfer characteristics of HDR (ITU-T H.273, table 3). */
const hdrTransfers: ReadonlyMap<number, string> = new Map([
  [16, 'PQ'],
  [18, 'HLG'],
]);

/**
 * libvips 8.18 ignores CICP: without a profile it reads HDR colours as sRGB, which makes them grey
 * and dark.
 *
 * @throws ServiceError source_unsupported
 */
export function requireConvertibleColours(
  source: Uint8Array,
  kind: SourceKind,
  { hasProfile }: Pick<Metadata, 'hasProfile'>,
): void {
  if (hasProfile) return;
  const transfer = hdrTransfers.get(transferOf(source, kind) ?? 0);
  if (transfer === undefined) return;
  throw new ServiceError(
    'source_unsupported',
    `The source is an HDR image (${transfer}), whose colours cannot be converted.`,
  );
}

function transferOf(source: Uint8Array, kind: SourceKind): number | null {
  if (kind === 'png') return pngTransfer(source);
  return kind === 'avif' || kind === 'heif' ? readHeif(source).transfer : null;
}
