import { programUrl } from '../../../contract/package.ts';
import { checkedHeader, examineFile, type FileTraits, libvipsFile } from '../file.ts';
import {
  isHeif,
  requireConvertibleCodes,
  unsupportedHeif,
  withOpenedBrand,
} from '../heif/header.ts';
import { heifParts } from '../heif/parts.ts';
import { withHeifProfile } from '../heif/profile.ts';
import { heifProgram } from '../heif/program.ts';
import { withoutOrientation } from '../metadata/exif.ts';
import type { Container, FileHeader, SourceFacts, SourceFormat } from '../source-format.ts';
import { loadModule, runDecoder } from '../wasm/run.ts';
import { decodeNatively } from './native.ts';
import type { HeicTask } from './thread.ts';

const entry = programUrl('pool/formats/heic/thread');

/**
 * Decodes a HEIC image with libheif and libde265, which sharp's libvips lacks, and writes it as an
 * uncompressed PNG, because raw pixels cannot carry a profile. The image is upright, because
 * libheif applies the container's transformations. A native decoder, where one is installed, decodes
 * single images of 8 bits, as phones take them; WebAssembly decodes all others, and those that the
 * native decoder refuses.
 *
 * @param facts about the image, with a checked size
 * @param keepsMetadata true to include EXIF and XMP
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
async function heicAsPng(
  { bytes: source, format }: Container,
  { page, pages, width, height, hasAlpha }: SourceFacts,
  keepsMetadata: boolean,
): Promise<Uint8Array> {
  const { icc, exif, xmp, depth, pagePrimary = 0 } = await checkedHeader(source, format, page);
  const task: HeicTask = {
    source,
    page: page ?? pagePrimary,
    form: { width, height, channels: hasAlpha ? 4 : 3 },
    metadata: {
      icc,
      exif: keepsMetadata && exif !== undefined ? withoutOrientation(exif) : undefined,
      xmp: keepsMetadata ? xmp : undefined,
    },
  };
  const isNative = pages === 1 && depth === 'uchar';
  return (
    (isNative && heifProgram !== null ? await decodeNatively(heifProgram, task) : null) ??
    (await runDecoder(entry, loadModule('libheif-js/libheif-wasm/libheif.wasm'), task))
  );
}

const label = 'HEIF';
const unsupportedEncoding = unsupportedHeif(label);

/** libvips also takes an AVIF with the major brand mif1 for HEVC. */
const usesOwnDecoder = ({ compression }: FileHeader): boolean => compression === 'hevc';

const traits: FileTraits = {
  decoder: 'heif',
  check: (source, header) => {
    requireConvertibleCodes(source, header);
    const refused = usesOwnDecoder(header) ? unsupportedEncoding(source, null) : null;
    if (refused !== null) throw refused;
  },
};

/** HEIC and other HEIFs coded with HEVC. */
export const heic: SourceFormat = {
  ...libvipsFile,
  name: 'heif',
  label,
  listedAs: 'HEIC',
  extensions: ['heic', 'heif'],
  matches: isHeif,
  setting: {
    name: 'heic',
    refused: 'an HEIC or HEIF image, which this service is configured not to accept',
    advice: 'convert it to JPEG, PNG or WebP, or ask the operator to set SERVICE_HEIC=on',
  },
  runsIn: 'process',
  // Decoded in WebAssembly to an uncompressed PNG of 8 bits, which takes 10 to 12 bytes per pixel.
  cost: { ms: 200, bytes: 12 },
  container: {
    parts: heifParts,
    sequential: false,
    opened: withOpenedBrand('mif1'),
    completed: withHeifProfile,
  },
  // libvips 8.18 opens files with at most 256 items, and a 100-megapixel grid contains more. Only a
  // process opens them, which limits memory and time.
  options: { unlimited: true },
  unsupportedEncoding,
  examine: async (file, limits, options) => {
    const { header, facts } = await examineFile(file, limits, options, traits);
    if (!usesOwnDecoder(header)) return { file, facts };
    const colour = { ...facts.colour, is16Bit: false };
    return { file, facts: { ...facts, colour, ownDecoder: true } };
  },
  open: async (opening) => {
    if (!opening.facts.ownDecoder) return libvipsFile.open(opening);
    const { file, facts, keepsMetadata } = opening;
    return { bytes: await heicAsPng(file, facts, keepsMetadata), options: file.format.options };
  },
};
