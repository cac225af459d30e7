import sharp, { type Metadata } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import type { Size } from '../geometry.ts';
import { plainVariant, type Variant } from '../variant.ts';
import { readBmp } from './bitmap/bmp.ts';
import type { BitmapHeader } from './bitmap/header.ts';
import { readIcon } from './bitmap/ico.ts';
import { hasAlpha } from './bitmap/pixels.ts';
import { type Container, openContainer } from './container/container.ts';
import { readHeif } from './container/heif.ts';
import type { SourceColour, SourceFacts } from './facts.ts';
import { requireConvertibleColours } from './hdr.ts';
import { IsolationRequired, maxThreadWidth, requireUsableProfile } from './isolation.ts';
import { kinds, type SourceKind } from './kinds.ts';
import { ColourSpace } from './metadata/colour-space.ts';
import { isSrgb } from './metadata/profile.ts';
import { optionalFormats, optionalFormatsProbed } from './optional-formats.ts';
import { readSvg, type SvgCost } from './svg/read.ts';
import { minSvgPixels, svgPixels, svgScales } from './svg/scale.ts';
import { svgDensity, svgSize } from './svg/size.ts';
import { missingDecoder } from './unsupported-formats.ts';
import { unsupportedTiff } from './unsupported-tiff.ts';

type Opened = Pick<Variant, 'page' | 'lenient'>;

export interface InspectionLimits {
  /** Of all frames together. */
  readonly sourceMaxPixels: number;
  /** True in a process that can be killed, which may do what libvips' timeout does not interrupt. */
  readonly isolated: boolean;
}

/** Each frame takes up to 10 ms, even a tiny one (see cost.ts), so all take half of the timeout. */
const maxFrames = 1_000;
/** Opening a TIFF reads the tags of all its pages. */
const maxPages = 2_000;
/**
 * Of a JPEG with the most pixels; a smaller one may have more. Decoding is not interrupted by the
 * timeout until all scans are read: about 1 ms for each scan of a megapixel.
 */
const maxScans = 32;

/**
 * Reads the properties of a source from its headers, and refuses sources that must not be decoded.
 *
 * @param asked what a variant says about opening its source
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid when
 *   there is no such page
 * @throws IsolationRequired for metadata that a thread must not read, or a profile that it must not use
 */
export async function inspect(
  container: Container,
  limits: InspectionLimits,
  asked: Opened = plainVariant,
): Promise<SourceFacts> {
  const { kind, bytes } = container;
  const { sourceMaxPixels } = limits;
  if (kind === 'heif') await optionalFormatsProbed;
  if (kind === 'bmp') return inspectBitmap(kind, readBmp(bytes), sourceMaxPixels, asked);
  const icon = kind === 'ico' ? readIcon(bytes) : null;
  if (icon === null) return inspectFile(container, kind, limits, asked);
  return icon.png === null
    ? inspectBitmap('ico', icon.header, sourceMaxPixels, asked)
    : inspectFile(openContainer(icon.png), kind, limits, asked);
}

async function inspectFile(
  container: Container,
  kind: SourceKind,
  { sourceMaxPixels, isolated }: InspectionLimits,
  asked: Opened,
): Promise<SourceFacts> {
  const { bytes } = container;
  const svg = kind === 'svg' ? await inspectSvg(bytes, sourceMaxPixels) : null;
  const { page } = asked;
  const header = await readPage(container, isolated, asked);
  const size = svg === null ? header : svgSize(bytes, header);
  if (header.format === 'heif' && header.compression === 'hevc' && !optionalFormats().heic) {
    throw missingDecoder('heif');
  }
  // A PNG is the one file inside of an ICO.
  if (header.format !== (kinds[kind].decoder ?? 'png')) throw matchesSeveral();
  if (header.icc !== undefined) requireUsableProfile(header.icc, isolated);
  if (!isolated && header.width > maxThreadWidth) throw new IsolationRequired();
  requireConvertibleColours(bytes, kind, header);
  const frames = kinds[kind].animates ? (header.pages ?? 1) : 1;
  requireFrames(frames);
  const height = header.pageHeight ?? size.height;
  const colour = colourOf(header);
  // Of CMYK and alpha there are five.
  const extraSamples = header.channels > { grey: 2, rgb: 4, other: 5 }[colour.model];
  if (svg !== null) requireRasterisable(size, svg, sourceMaxPixels);
  else {
    requirePixels(header.width * height * frames, sourceMaxPixels);
    requireScans(container, header.width * height, sourceMaxPixels);
  }
  return {
    kind,
    width: size.width,
    height,
    orientation: header.orientation ?? 1,
    frames,
    pages: header.pages ?? 1,
    page,
    timing: frames > 1 ? { delay: header.delay ?? [], loop: header.loop ?? 0 } : null,
    hasAlpha: header.hasAlpha && !extraSamples,
    extraSamples,
    colour,
    svg,
    gainMap: await gainMapSize(header),
  };
}

async function gainMapSize({ gainMap }: Metadata): Promise<Size | null> {
  if (gainMap === undefined) return null;
  const { width, height } = await readHeader(openContainer(gainMap.image), true);
  return { width, height };
}

/** Embedded images are decoded completely, so their pixels count like those of any source. */
async function inspectSvg(source: Uint8Array, maxPixels: number): Promise<SvgCost> {
  const { embedded, cost } = readSvg(source);
  let pixels = 0;
  for (const image of embedded) {
    const container = openContainer(image);
    const header = await readHeader(container, true);
    pixels += header.width * header.height;
    requirePixels(pixels, maxPixels);
    requireScans(container, header.width * header.height, maxPixels);
  }
  return cost;
}

/** The header of a page: those of a TIFF or a HEIF may have different sizes. */
async function readPage(
  container: Container,
  isolated: boolean,
  { page, lenient }: Opened,
): Promise<Metadata> {
  const header = await readHeader(container, isolated, null, lenient);
  if (page === null) return header;
  const pages = header.pages ?? 1;
  requirePage(page, pages);
  const isSame = pages === 1 || kinds[container.kind].animates;
  return isSame ? header : readHeader(container, isolated, page, lenient);
}

function requirePage(page: number, pages: number): void {
  if (page < pages) return;
  const has = pages === 1 ? 'only one page, 0' : `${pages} pages, 0 to ${pages - 1}`;
  throw new ServiceError('parameter_invalid', `page is ${page}, and the source has ${has}.`);
}

/** @throws IsolationRequired for metadata that a thread must not read */
async function readHeader(
  { bytes, kind, frames, pages, excessMetadata: excess, inconsistent: suspicious }: Container,
  isolated: boolean,
  page: number | null = null,
  lenient = false,
): Promise<Metadata> {
  if (!isolated && (excess.size > 0 || suspicious)) throw new IsolationRequired();
  // libwebp compares each frame with all others when it opens a file, which takes minutes for the
  // frames that fit in 32 MB.
  requireFrames(frames);
  requirePages(pages);
  try {
    // No pixel limit, so that an error always means an invalid header: sharp's errors differ only
    // by their message. The caller checks the pixels before anything is decoded.
    const failOn = lenient ? 'none' : 'error';
    const options = { limitInputPixels: false, failOn, ...pageOption(page) } as const;
    const density = kinds[kind].vector ? { density: svgDensity } : {};
    return await sharp(bytes, { ...options, ...density }).metadata();
  } catch (error) {
    if (kind === 'jxl' && !optionalFormats().jxl) throw missingDecoder(kind);
    if (kind === 'heif' && !optionalFormats().heic) throw missingDecoder(kind);
    if (kind === 'avif' && readHeif(bytes).onlySequence) {
      throw new ServiceError('source_unsupported', 'The AVIF has only a sequence, and no image.');
    }
    const unread = unsupportedTiff(kind, bytes, error);
    if (unread !== null) throw unread;
    throw new ServiceError(
      'source_corrupt',
      `The source cannot be read as ${kinds[kind].label}.`,
      error,
    );
  }
}

function matchesSeveral(): ServiceError {
  const message = 'The source cannot be decoded: its bytes match several formats.';
  return new ServiceError('source_unsupported', message);
}

/** A bitmap without metadata, of which nothing is allocated before its size is checked. */
function inspectBitmap(
  kind: 'bmp' | 'ico',
  header: BitmapHeader,
  maxPixels: number,
  { page }: Opened,
): SourceFacts {
  const { width, height } = header;
  if (page !== null) requirePage(page, 1);
  requirePixels(width * height, maxPixels);
  return {
    kind,
    width,
    height,
    orientation: 1,
    frames: 1,
    pages: 1,
    page,
    timing: null,
    svg: null,
    gainMap: null,
    hasAlpha: kind === 'ico' || hasAlpha(header),
    extraSamples: false,
    colour: { model: 'rgb', hasProfile: false, isSrgb: false, deep: false, space: null },
  };
}

function requirePixels(pixels: number, maxPixels: number): void {
  if (pixels <= maxPixels) return;
  throw new ServiceError(
    'source_too_large',
    `The source has ${pixels} pixels in all its frames; at most ${maxPixels} are allowed.`,
  );
}

function requireFrames(frames: number): void {
  if (frames <= maxFrames) return;
  throw new ServiceError(
    'source_too_large',
    `The source has ${frames} frames; at most ${maxFrames} are allowed.`,
  );
}

function requirePages(pages: number): void {
  if (pages <= maxPages) return;
  throw new ServiceError('source_too_large', `The TIFF has more than ${maxPages} pages.`);
}

function requireScans({ scans }: Container, pixels: number, maxPixels: number): void {
  const most = Math.floor((maxScans * maxPixels) / pixels);
  if (scans <= most) return;
  throw new ServiceError(
    'source_too_large',
    `The JPEG has ${scans} scans; with its ${pixels} pixels, at most ${most} are allowed.`,
  );
}

/** An SVG can be rasterised smaller, but not below 1 pixel per side. */
function requireRasterisable({ width, height }: Size, cost: SvgCost, maxPixels: number): void {
  const pixels = svgPixels({ width, height }, cost, maxPixels);
  if (pixels < Math.min(minSvgPixels, maxPixels)) {
    throw new ServiceError(
      'source_too_large',
      "The SVG's filters would take too much time or memory.",
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
  const { icc } = header;
  const ofSrgb = icc !== undefined && isSrgb(icc);
  return {
    model: colourModels.get(header.space) ?? 'other',
    hasProfile: header.hasProfile,
    isSrgb: ofSrgb,
    deep: header.depth === 'ushort',
    space: icc === undefined || ofSrgb ? null : ColourSpace.of(icc),
  };
}

const colourModels: ReadonlyMap<string, SourceColour['model']> = new Map([
  ['srgb', 'rgb'],
  ['rgb', 'rgb'],
  ['rgb16', 'rgb'],
  ['b-w', 'grey'],
  ['grey16', 'grey'],
]);

/** libvips opens the primary image of a HEIF only where no page is named: it need not be the first. */
export const pageOption = (page: number | null): { readonly page?: number } =>
  page === null ? {} : { page };
