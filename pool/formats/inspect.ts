import sharp, { type Metadata } from 'sharp';
import { ServiceError } from '../../contract/errors.ts';
import { maxFramePixels } from '../bounds.ts';
import type { Size } from '../geometry.ts';
import { plainVariant, type Variant } from '../variant.ts';
import { readBmp } from './bitmap/bmp.ts';
import type { BitmapHeader } from './bitmap/header.ts';
import { readIcon } from './bitmap/ico.ts';
import { hasAlpha } from './bitmap/pixels.ts';
import { type Container, openContainer } from './container/container.ts';
import { corrupt, tooLarge, unsupported } from './errors.ts';
import type { SourceColour, SourceFacts } from './facts.ts';
import { keepsDepth } from './heic/decode.ts';
import { IsolationRequired, maxThreadWidth, requireUsableProfile } from './isolation.ts';
import { needsJxlDecoder } from './jxl/decode.ts';
import { kinds, type SourceKind } from './kinds.ts';
import { ColourSpace } from './metadata/colour-space.ts';
import { profileName } from './metadata/profile.ts';
import { pageOption, unlimitedOption } from './open-options.ts';
import { optionalFormats, optionalFormatsProbed } from './optional-formats.ts';
import { readPdf } from './pdf/decode.ts';
import { requirePixels } from './pixel-limit.ts';
import { embeddedImages } from './svg/document.ts';
import { svgDensity, svgSize } from './svg/size.ts';
import {
  requireConvertibleColours,
  requireReadableTiles,
  unsupportedEncoding,
} from './unsupported-encodings.ts';
import { vectorScales } from './vector-scale.ts';

/** Each frame takes up to 10 ms, even a tiny one (see cost.ts), so all take half of the timeout. */
const maxFrames = 1_000;
/** Opening a TIFF reads the tags of all its pages. */
const maxPages = 2_000;
/**
 * Scans of a JPEG with the maximum number of pixels; a smaller one may have more. The timeout does not
 * interrupt decoding until all scans are read: about 1 ms for each scan of a megapixel.
 */
const maxScans = 32;

/** The parameters of a variant that affect how its source is opened. */
type OpenOptions = Pick<Variant, 'page' | 'lenient'>;

export interface InspectionLimits {
  /** Pixels of all frames together. */
  readonly sourceMaxPixels: number;
  /** True in a process that can be killed, which may do work that libvips' timeout does not interrupt. */
  readonly isolated: boolean;
}

/**
 * Reads the properties of a source from its headers, and refuses sources that must not be decoded.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid for a
 *   page that the source does not have
 * @throws IsolationRequired for metadata or a profile that must not be used on a thread
 */
export async function inspect(
  container: Container,
  limits: InspectionLimits,
  options: OpenOptions = plainVariant,
): Promise<SourceFacts> {
  const { kind, bytes } = container;
  if (kind === 'heif') await optionalFormatsProbed;
  if (kind === 'bmp') return inspectBitmap(kind, readBmp(bytes), limits, options);
  if (kind === 'pdf') return inspectPdf(bytes, limits, options);
  if (kind !== 'ico') return inspectFile(container, kind, limits, options);
  const icon = readIcon(bytes);
  return icon.png === null
    ? inspectBitmap(kind, icon.header, limits, options)
    : inspectFile(openContainer(icon.png), kind, limits, options);
}

async function inspectFile(
  container: Container,
  kind: SourceKind,
  { sourceMaxPixels, isolated }: InspectionLimits,
  options: OpenOptions,
): Promise<SourceFacts> {
  const { bytes } = container;
  const isSvg = kind === 'svg';
  if (isSvg) await inspectSvg(bytes, sourceMaxPixels);
  const header = await readPageHeader(container, isolated, options);
  const size = isSvg ? svgSize(bytes, header) : header;
  // An ICO contains a PNG, and a JPEG XL may have been decoded to one.
  const { decoder } = kinds[kind];
  const isPng = decoder === null || needsJxlDecoder(container);
  if (header.format !== (isPng ? 'png' : decoder)) {
    throw unsupported('The source cannot be decoded: its bytes match several formats.');
  }
  if (header.icc !== undefined) requireUsableProfile(header.icc, isolated);
  if (!isolated && header.width > maxThreadWidth) throw new IsolationRequired();
  requireConvertibleColours(bytes, kind, header);
  if (kind === 'tiff') requireReadableTiles(bytes);
  const frames = kinds[kind].animates ? (header.pages ?? 1) : 1;
  requireFrames(frames);
  const height = header.pageHeight ?? size.height;
  // libvips also takes an AVIF with the major brand mif1 for HEVC.
  const byLibheif = kind === 'heif' && header.compression === 'hevc' && !optionalFormats().hevc;
  const refused = byLibheif ? unsupportedEncoding(kind, bytes, null) : null;
  if (refused !== null) throw refused;
  const colour = colourOf(header, !byLibheif || keepsDepth(header));
  // CMYK with alpha has five channels.
  const extraSamples = header.channels > { grey: 2, rgb: 4, other: 5 }[colour.model];
  if (isSvg) requireRasterisable(size, kind, sourceMaxPixels);
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
    page: options.page,
    timing: frames > 1 ? { delay: header.delay ?? [], loop: header.loop ?? 0 } : null,
    hasAlpha: header.hasAlpha && !extraSamples,
    extraSamples,
    colour,
    byLibheif,
    gainMap: await gainMapSize(header),
  };
}

async function gainMapSize({ gainMap }: Metadata): Promise<Size | null> {
  if (gainMap === undefined) return null;
  const { width, height } = await readHeader(openContainer(gainMap.image), true);
  return { width, height };
}

/**
 * Embedded images are decoded completely, at any rendered size, so their pixels count like those of any source. What
 * a document costs otherwise, the limits of the process bound.
 */
async function inspectSvg(source: Uint8Array, maxPixels: number): Promise<void> {
  let pixels = 0;
  for (const image of embeddedImages(source)) {
    const container = openContainer(image);
    const header = await readHeader(container, true);
    pixels += header.width * header.height;
    requirePixels(pixels, maxPixels);
    requireScans(container, header.width * header.height, maxPixels);
  }
}

/** Reads the header of the requested page: pages of a TIFF or a HEIF may differ in size. */
async function readPageHeader(
  container: Container,
  isolated: boolean,
  { page, lenient }: OpenOptions,
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
  const available = pages === 1 ? 'only one page, 0' : `${pages} pages, 0 to ${pages - 1}`;
  throw new ServiceError('parameter_invalid', `page is ${page}, and the source has ${available}.`);
}

/** @throws IsolationRequired for metadata that a thread must not read */
async function readHeader(
  { bytes, kind, frames, pages, excessMetadata, inconsistent }: Container,
  isolated: boolean,
  page: number | null = null,
  lenient = false,
): Promise<Metadata> {
  if (!isolated && (excessMetadata.size > 0 || inconsistent)) throw new IsolationRequired();
  // libwebp compares each frame with all others when it opens a file: minutes for the frames that fit in
  // 32 MB.
  requireFrames(frames);
  requirePages(pages);
  try {
    // The caller checks the pixels before decoding. sharp's own limit would be an error that differs from
    // those of invalid headers only by its message.
    const failOn = lenient ? 'none' : 'error';
    const opening = { ...pageOption(page), ...unlimitedOption(kind) };
    const options = { limitInputPixels: false, failOn, ...opening } as const;
    const density = kinds[kind].vector ? { density: svgDensity } : {};
    return await sharp(bytes, { ...options, ...density }).metadata();
  } catch (error) {
    throw (
      unsupportedEncoding(kind, bytes, error) ??
      corrupt(`The source cannot be read as ${kinds[kind].label}.`, error)
    );
  }
}

/** Only in a process, because PDFium reads the sizes. A page is opaque, on white. */
async function inspectPdf(
  source: Uint8Array,
  { isolated, sourceMaxPixels }: InspectionLimits,
  { page }: OpenOptions,
): Promise<SourceFacts> {
  if (!isolated) throw new IsolationRequired();
  const { pages, ...size } = await readPdf(source, page ?? 0);
  if (page !== null) requirePage(page, pages);
  requireRasterisable(size, 'pdf', sourceMaxPixels);
  return {
    ...size,
    ...plainFacts,
    kind: 'pdf',
    pages,
    page,
    hasAlpha: false,
  };
}

/** The facts of pixels without a file, such as those of a bitmap. */
export const plainFacts = {
  orientation: 1,
  frames: 1,
  timing: null,
  byLibheif: false,
  gainMap: null,
  extraSamples: false,
  colour: {
    model: 'rgb',
    hasProfile: false,
    profileName: null,
    isSrgb: false,
    is16Bit: false,
    space: null,
  },
} as const satisfies Partial<SourceFacts>;

/** A bitmap has no metadata. Its size is checked before anything is allocated. */
function inspectBitmap(
  kind: 'bmp' | 'ico',
  header: BitmapHeader,
  { sourceMaxPixels }: InspectionLimits,
  { page }: OpenOptions,
): SourceFacts {
  const { width, height } = header;
  if (page !== null) requirePage(page, 1);
  requirePixels(width * height, sourceMaxPixels);
  return {
    ...plainFacts,
    kind,
    width,
    height,
    pages: 1,
    page,
    hasAlpha: kind === 'ico' || hasAlpha(header),
  };
}

function colourOf({ icc, space, hasProfile, depth }: Metadata, keepsDepth: boolean): SourceColour {
  const found = icc === undefined ? null : ColourSpace.of(icc);
  const isSrgb = found?.isSrgb === true;
  return {
    model: /^s?rgb(?:16)?$/.test(space) ? 'rgb' : /^(?:b-w|grey16)$/.test(space) ? 'grey' : 'other',
    hasProfile,
    profileName: icc === undefined ? null : profileName(icc),
    isSrgb,
    is16Bit: depth === 'ushort' && keepsDepth,
    space: isSrgb ? null : found,
  };
}

function requireFrames(frames: number): void {
  if (frames <= maxFrames) return;
  throw tooLarge(`The source has ${frames} frames; at most ${maxFrames} are allowed.`);
}

function requirePages(pages: number): void {
  if (pages > maxPages) throw tooLarge(`The TIFF has more than ${maxPages} pages.`);
}

function requireScans({ scans }: Container, pixels: number, maxPixels: number): void {
  const max = Math.floor((maxScans * maxPixels) / pixels);
  if (scans <= max) return;
  throw tooLarge(
    `The JPEG has ${scans} scans; with its ${pixels} pixels, at most ${max} are allowed.`,
  );
}

/** Refuses SVGs and PDFs that cannot be rasterised at any size; no side may be below 1 pixel. */
function requireRasterisable(size: Size, kind: SourceKind, maxPixels: number): void {
  const { smallest, largest } = vectorScales(size, Math.min(maxFramePixels, maxPixels));
  if (smallest <= largest) return;
  throw tooLarge(
    `The ${kinds[kind].label} is too large or too narrow: ${size.width} x ${size.height}.`,
  );
}
