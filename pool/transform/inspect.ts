import sharp, { type Metadata } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { minSvgPixels, svgPixels, svgScales } from './bounds.ts';
import { kinds, type SourceKind } from './kinds.ts';
import type { SourceColour, SourceFacts } from './plan.ts';
import { sniff } from './sniff.ts';
import { readSvg, type SvgCost } from './svg/read.ts';

/** Each costs time of its own, however small it is. */
const maxFrames = 2_000;

/**
 * Learns from the headers alone what a source is, and refuses what must not be decoded.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function inspect(source: Uint8Array, maxPixels: number): Promise<SourceFacts> {
  const kind = sniff(source);
  if (kind === null) {
    throw new ServiceError(
      'source_unsupported',
      'The source is not a JPEG, PNG, WebP, GIF, AVIF, TIFF or SVG.',
    );
  }
  const svg = kind === 'svg' ? await inspectSvg(source, maxPixels) : null;
  const header = await readHeader(source, kind);
  if (header.format !== kinds[kind].decoder || header.compression === 'hevc') {
    throw unsupported(kind);
  }
  const frames = kinds[kind].animates ? (header.pages ?? 1) : 1;
  if (frames > maxFrames) {
    throw new ServiceError(
      'source_too_large',
      `The source has ${frames} frames; at most ${maxFrames} are allowed.`,
    );
  }
  const height = header.pageHeight ?? header.height;
  if (svg !== null) requireDrawable(header, svg, maxPixels);
  else requirePixels(header.width * height * frames, maxPixels);
  return {
    kind,
    width: header.width,
    height,
    orientation: header.orientation ?? 1,
    frames,
    timing: frames > 1 ? { delay: header.delay ?? [], loop: header.loop ?? 0 } : null,
    hasAlpha: header.hasAlpha,
    colour: colourOf(header),
    svg,
  };
}

/** Embedded pictures are decoded as a whole, so their pixels count like those of any source. */
async function inspectSvg(source: Uint8Array, maxPixels: number): Promise<SvgCost> {
  const { embedded, cost } = readSvg(source);
  let pixels = 0;
  for (const picture of embedded) {
    const header = await readHeader(picture, 'svg');
    pixels += header.width * header.height;
    requirePixels(pixels, maxPixels);
  }
  return cost;
}

async function readHeader(bytes: Uint8Array, kind: SourceKind): Promise<Metadata> {
  try {
    // No limit here, so that a failure can only mean bytes that make no sense: sharp tells errors
    // apart by their text alone. The caller compares the pixels before any is decoded.
    return await sharp(bytes, { limitInputPixels: false, failOn: 'error' }).metadata();
  } catch (error) {
    if (kind === 'heif') throw unsupported(kind);
    throw new ServiceError(
      'source_corrupt',
      `The source cannot be read as ${kinds[kind].label}.`,
      error,
    );
  }
}

function unsupported(kind: SourceKind): ServiceError {
  const reason =
    kind === 'heif' ? 'HEIF with other than AV1 pictures is not supported' : 'mixed kinds';
  return new ServiceError('source_unsupported', `The source cannot be decoded: ${reason}.`);
}

function requirePixels(pixels: number, maxPixels: number): void {
  if (pixels <= maxPixels) return;
  throw new ServiceError(
    'source_too_large',
    `The source has ${pixels} pixels in all its frames; at most ${maxPixels} are allowed.`,
  );
}

/** An SVG can be made smaller, but not without end, and a very narrow one is gone before that. */
function requireDrawable({ width, height }: Metadata, cost: SvgCost, maxPixels: number): void {
  const pixels = svgPixels({ width, height }, cost, maxPixels);
  if (pixels < Math.min(minSvgPixels, maxPixels)) {
    throw new ServiceError(
      'source_too_large',
      "The SVG's filters would take too much time or memory to draw.",
    );
  }
  const scales = svgScales({ width, height }, pixels);
  if (scales.smallest <= scales.largest) return;
  throw new ServiceError(
    'source_too_large',
    `The SVG is too large or too narrow: ${width} x ${height}.`,
  );
}

function colourOf(header: Metadata): SourceColour {
  const model = colourModels.get(header.space) ?? 'other';
  return { model, hasProfile: header.hasProfile, deep: header.depth === 'ushort' };
}

const colourModels: ReadonlyMap<string, SourceColour['model']> = new Map([
  ['srgb', 'rgb'],
  ['rgb', 'rgb'],
  ['rgb16', 'rgb'],
  ['b-w', 'grey'],
  ['grey16', 'grey'],
]);
