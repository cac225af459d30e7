import type { ServiceError } from '../../../contract/errors.ts';
import type { Size } from '../../geometry.ts';
import { asBuffer, textAt } from '../bytes.ts';
import { openAs } from '../container/container.ts';
import { unsupported } from '../errors.ts';
import { embeddedSize, examineFile, libvipsFile } from '../file.ts';
import type { SourceFormat } from '../source-format.ts';
import { jpegParts, withCmykProfile, withJpegEnd } from './parts.ts';

/** Strings near the start of a JPEG with a gain map (Adobe's specification 1.0, ISO 21496-1). */
const markers = ['http://ns.adobe.com/hdr-gain-map/1.0/', 'urn:iso:std:iso:ts:21496:-1'] as const;
const headBytes = 2 ** 20;

/** Returns whether a JPEG could contain a gain map; only its decoder can verify it. */
export function mayHaveGainMap(source: Uint8Array): boolean {
  const head = asBuffer(source).subarray(0, headBytes);
  return markers.some((marker) => head.includes(marker));
}

/** Returns the error for a JPEG that browsers do not show either; null for other files. */
function unsupportedJpeg(source: Uint8Array, cause: unknown): ServiceError | null {
  const file = asBuffer(source);
  for (const { role, from, to } of jpegParts(file)) {
    if (role === 'scan') break;
    const marker = file[from] === 0xff ? (file[from + 1] ?? 0) : 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    const bits = to - from > 4 ? (file[from + 4] ?? 8) : 8;
    // The frame types of table B.1 in ITU-T T.81 after progressive, and JPEG-LS.
    const isRare = (isFrame && marker > 0xc2) || marker === 0xf7;
    if (!isRare && !(isFrame && bits !== 8)) continue;
    const encoding = isRare ? 'lossless, hierarchical or arithmetic' : `${bits} bits`;
    const message = `The source is a JPEG in an unsupported encoding (${encoding}). To use it: save it as a baseline or progressive JPEG, or as PNG.`;
    return unsupported(message, cause);
  }
  return null;
}

export const jpeg: SourceFormat = {
  ...libvipsFile,
  name: 'jpeg',
  label: 'JPEG',
  extensions: ['jpg', 'jpeg', 'jpe'],
  matches: textAt(0, '\xff\xd8\xff'),
  // Includes the coefficients that a progressive JPEG keeps in memory.
  cost: { ms: 8, bytes: 6 },
  container: {
    parts: jpegParts,
    sequential: true,
    ended: withJpegEnd,
    completed: withCmykProfile,
  },
  // At an eighth, pixels are block means, which blur texts; a quarter looks nearly as good as the
  // whole.
  decodesReduced: (scale) => scale > 1 / 9,
  decoderScale,
  mayHaveGainMap,
  unsupportedEncoding: unsupportedJpeg,
  examine: async (file, limits, options) => {
    const { header, facts } = await examineFile(file, limits, options, { decoder: 'jpeg' });
    const { gainMap } = header;
    const map = gainMap === undefined ? null : openAs(jpeg, gainMap.image);
    return { file, facts: map === null ? facts : { ...facts, gainMap: await embeddedSize(map) } };
  },
  open: (opening) => {
    const { lenient, scale, files } = opening;
    const { bytes, options } = libvipsFile.open(opening);
    // Scans were counted; libvips also limits the decoder's warnings.
    const input = { bytes, options: lenient ? { ...options, unlimited: true } : options };
    const path = scale === null ? null : files.write(input.bytes);
    return path === null || scale === null
      ? input
      : { ...input, path: `${path}[shrink=${1 / scale}]` };
  },
};

/**
 * Maximum shift of the far edges, in output pixels. libvips drops a partial column: half of 2725
 * columns is half of the first 2724.
 */
const maxShift = 0.6;

/**
 * Returns a half at ratios from 2 to 3, and a quarter from 4 to 5. There sharp decodes twice as
 * many rows and columns, to avoid rounding errors of old decoders; at other ratios it makes the
 * same choice. This saves 20 to 40% of the CPU time, and costs 0.2 to 1.3 points of SSIMULACRA2 (20
 * photographs). Red shapes and texts on blue look the same, also enlarged: their edges at 800 px
 * differ from the drawing by 5.3 levels, after a whole decode by 7.9 (4:4:4 sources: 4.9 and 4.4).
 *
 * @param size as stored
 */
function decoderScale(scale: number, { width, height }: Size): number | null {
  const ratio = Math.floor(1 / scale);
  if (ratio !== 2 && ratio !== 4) return null;
  const lost = Math.max(width % ratio, height % ratio);
  return lost * scale <= maxShift ? 1 / ratio : null;
}
