import sharp, { type Metadata } from 'sharp';
import type { Size } from '../geometry.ts';
import {
  requireFrames,
  requirePage,
  requirePages,
  requirePixels,
  requireRasterisable,
  requireScans,
} from './bounds.ts';
import { corrupt, unsupported } from './errors.ts';
import { isOrdinaryProfile, maxThreadWidth } from './isolation.ts';
import { ColourSpace } from './metadata/colour-space.ts';
import { profileName } from './metadata/profile.ts';
import type {
  Container,
  DecoderInput,
  ExamineOptions,
  FileHeader,
  InspectionLimits,
  OpenOptions,
  SourceColour,
  SourceFacts,
  SourceFormat,
} from './source-format.ts';

/** Format-specific parts of examining a file that libvips reads. */
export interface FileTraits {
  /** The loader that sharp must choose; another choice means that the bytes match two formats. */
  readonly decoder: string;
  /** Counts the frames of an animation that is served as its still image; 1 for a still file. */
  readonly storedFrames?: (source: Uint8Array) => number;
  /** The exact size, if the header rounds it. */
  readonly exactSize?: (source: Uint8Array, header: FileHeader) => Size;
  /** Refuses files that libvips decodes wrong. @throws ServiceError source_unsupported */
  readonly check?: (source: Uint8Array, header: FileHeader) => void;
}

/** Properties shared by most formats that libvips reads. */
export const libvipsFile = {
  runsIn: 'thread',
  vector: false,
  animates: false,
  hasMetadata: true,
  options: {},
  open: fileInput,
} as const satisfies Partial<SourceFormat>;

/** Returns the `examine` of a format that libvips reads. */
export const examineWith =
  (traits: FileTraits): SourceFormat['examine'] =>
  async (file, limits, options) => {
    const { facts } = await examineFile(file, limits, options, traits);
    return { file, facts };
  };

/** Reads the facts of a file that libvips opens. @throws as `SourceFormat.examine` */
export async function examineFile(
  container: Container,
  limits: InspectionLimits,
  options: ExamineOptions,
  { decoder, storedFrames, exactSize, check }: FileTraits,
): Promise<{ readonly header: FileHeader; readonly facts: SourceFacts }> {
  const { bytes, format } = container;
  const { sourceMaxPixels } = limits;
  requireOpenable(container);
  const header = await readPageHeader(container, options);
  const size = exactSize?.(bytes, header) ?? header;
  if (header.format !== decoder) {
    throw unsupported('The source cannot be decoded: its bytes match several formats.');
  }
  const isOrdinary = header.icc === undefined || isOrdinaryProfile(header.icc);
  check?.(bytes, header);
  const frames = format.animates ? (header.pages ?? 1) : 1;
  requireFrames(frames);
  const height = header.pageHeight ?? size.height;
  const colour = toSourceColour(header);
  // CMYK with alpha has five channels.
  const extraSamples = header.channels > { grey: 2, rgb: 4, other: 5 }[colour.model];
  if (format.vector) requireRasterisable(size, format.label, sourceMaxPixels);
  else {
    requirePixels(header.width * height * frames, sourceMaxPixels);
    requireScans(container, header.width * height, sourceMaxPixels);
  }
  const facts: SourceFacts = {
    format,
    width: size.width,
    height,
    orientation: header.orientation ?? 1,
    frames,
    storedFrames: storedFrames?.(bytes) ?? frames,
    pages: header.pages ?? 1,
    page: options.page,
    timing: frames > 1 ? { delay: header.delay ?? [], loop: header.loop ?? 0 } : null,
    hasAlpha: header.hasAlpha && !extraSamples,
    extraSamples,
    colour,
    ownDecoder: false,
    exceedsThread: !isOrdinary || header.width > maxThreadWidth,
    gainMap: null,
  };
  return { header, facts };
}

function requireOpenable(container: Container): void {
  // When libwebp opens a file, it compares each frame with all others. The frames that fit in 32 MB
  // would take minutes.
  requireFrames(container.frames);
  requirePages(container);
}

/** Reads the requested page's header: TIFF and HEIF pages can differ in size. */
async function readPageHeader(
  container: Container,
  { page, lenient }: Pick<ExamineOptions, 'page' | 'lenient'>,
): Promise<FileHeader> {
  const header = await readHeader(container, null, lenient);
  if (page === null) return header;
  const pages = header.pages ?? 1;
  requirePage(page, pages);
  const isSame = pages === 1 || container.format.animates;
  return isSame ? header : readHeader(container, page, lenient);
}

async function readHeader(
  { bytes, format }: Container,
  page: number | null,
  lenient: boolean,
): Promise<FileHeader> {
  try {
    // The caller checks the pixels before decoding. sharp's own limit would cause an error that
    // differs from an invalid header's error only in its message.
    const failOn = lenient ? 'none' : 'error';
    const options = { ...format.options, limitInputPixels: false, failOn } as const;
    return await sharp(bytes, { ...options, ...pageOption(page) }).metadata();
  } catch (error) {
    throw (
      format.unsupportedEncoding?.(bytes, error) ??
      corrupt(`The source cannot be read as ${format.label}.`, error)
    );
  }
}

/**
 * Returns the size of a file embedded in a source. The caller checks its pixels.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
export async function embeddedSize(container: Container): Promise<Size> {
  requireOpenable(container);
  const { width, height } = await readHeader(container, null, false);
  return { width, height };
}

function fileInput({ file: { bytes, format }, facts }: OpenOptions): DecoderInput {
  return { bytes, options: { ...format.options, ...pageOption(facts.page) } };
}

function toSourceColour({ icc, space, hasProfile, depth }: FileHeader): SourceColour {
  const found = icc === undefined ? null : ColourSpace.of(icc);
  const isSrgb = found?.isSrgb === true;
  return {
    model: /^s?rgb(?:16)?$/.test(space) ? 'rgb' : /^(?:b-w|grey16)$/.test(space) ? 'grey' : 'other',
    hasProfile,
    profileName: icc === undefined ? null : profileName(icc),
    isSrgb,
    is16Bit: depth === 'ushort',
    space: isSrgb ? null : found,
  };
}

/**
 * Omits a missing page: libvips then opens a HEIF's primary image, which can differ from page 0.
 */
const pageOption = (page: number | null): { readonly page?: number } =>
  page === null ? {} : { page };

/** Reads the header and metadata of a checked file. */
export function checkedHeader(
  file: Uint8Array,
  { options }: SourceFormat,
  page: number | null = null,
): Promise<Metadata> {
  const opening = { limitInputPixels: false, failOn: 'none', ...pageOption(page) } as const;
  return sharp(file, { ...options, ...opening }).metadata();
}
