import sharp from 'sharp';
import { programUrl } from '../../../contract/package.ts';
import type { Size } from '../../geometry.ts';
import { checkedHeader, examineFile, type FileTraits, libvipsFile } from '../file.ts';
import {
  isHeif,
  requireConvertibleCodes,
  unsupportedHeif,
  withOpenedBrand,
} from '../heif/header.ts';
import { heifParts } from '../heif/parts.ts';
import { withHeifProfile } from '../heif/profile.ts';
import { withoutOrientation } from '../metadata/exif.ts';
import type { Container, FileHeader, SourceFacts, SourceFormat } from '../source-format.ts';
import { loadModule, runDecoder } from '../wasm/run.ts';
import type { HeicTask } from './thread.ts';

/** A HEIC of 16 x 16 grey pixels, because some libheif installations lack an HEVC decoder. */
const picture = Buffer.from(
  'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAaptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAA' +
    'AAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHOAAEAAAAAAAAAHAACAAEA' +
    'AAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAA' +
    'AADVaXBycAAAALNpcGNvAAAAc2h2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAe' +
    'ugJAIQABACdCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubAgAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAA' +
    'AEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAa' +
    'aXJlZgAAAAAAAAAOZGltZwACAAEAAQAAACRtZGF0AAAAGCgBrwQSONz4laCSMKznLzyhXt7gkfCKgA==',
  'base64',
);

let found = false;

/** Resolves when the probe for HEVC is done, shortly after the start. */
const hevcProbed: Promise<void> = sharp(picture)
  .raw()
  .toBuffer()
  .then(
    () => {
      found = true;
    },
    () => {},
  );

/** Returns whether libvips decodes HEVC; sharp's binaries on npm do not. */
const decodesHevc = (): boolean => found;

const entry = programUrl('pool/formats/heic/thread');

/**
 * From this number of pixels on, decodes 10-bit and 12-bit samples to 8 bits, because up to 24
 * bytes per pixel would exceed a process's memory.
 */
const maxDeepPixels = 50_000_000;

/** Returns whether samples with more than 8 bits are decoded to 16. */
const keepsDepth = ({ width, height }: Size): boolean => width * height <= maxDeepPixels;

/**
 * Decodes a HEIC image with libheif and libde265, which sharp's libvips lacks, and writes it as an
 * uncompressed PNG, because raw pixels cannot carry a profile. The image is upright, because
 * libheif applies the container's transformations.
 *
 * @param facts about the image, with a checked size
 * @param keepsMetadata true to include EXIF and XMP
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
async function heicAsPng(
  { bytes: source, format }: Container,
  { page, width, height, hasAlpha, colour }: SourceFacts,
  keepsMetadata: boolean,
): Promise<Uint8Array> {
  const { icc, exif, xmp, pagePrimary = 0 } = await checkedHeader(source, format, page);
  return await runDecoder<HeicTask>(entry, loadModule('libheif-js/libheif-wasm/libheif.wasm'), {
    source,
    page: page ?? pagePrimary,
    form: { width, height, channels: hasAlpha ? 4 : 3, bits: colour.is16Bit ? 16 : 8 },
    metadata: {
      icc,
      exif: keepsMetadata && exif !== undefined ? withoutOrientation(exif) : undefined,
      xmp: keepsMetadata ? xmp : undefined,
    },
  });
}

const label = 'HEIF';
const unsupportedEncoding = unsupportedHeif(label);

/** libvips also takes an AVIF with the major brand mif1 for HEVC. */
const usesOwnDecoder = ({ compression }: FileHeader): boolean =>
  compression === 'hevc' && !decodesHevc();

const traits: FileTraits = {
  decoder: 'heif',
  check: (source, header) => {
    requireConvertibleCodes(source, header);
    const refused = usesOwnDecoder(header) ? unsupportedEncoding(source, null) : null;
    if (refused !== null) throw refused;
  },
};

/** HEIC and other HEIFs coded with HEVC, which only some libvips builds decode. */
export const heic: SourceFormat = {
  ...libvipsFile,
  name: 'heif',
  label,
  listedAs: 'HEIC',
  extensions: ['heic', 'heif'],
  matches: isHeif,
  setting: {
    name: 'heic',
    refused: 'an HEIC or HEIF image, which this service is set not to read',
    advice: 'convert it to JPEG, PNG or WebP, or let the operator set SERVICE_HEIC=on',
  },
  probed: hevcProbed,
  runsIn: 'process',
  // Decoded in WebAssembly to an uncompressed PNG: 10 to 12 bytes per pixel, or for 10-bit samples
  // 16 to 19 bytes at half chroma resolution and 24 at full resolution.
  cost: { ms: 200, bytes: 12, deep: { ms: 200, bytes: 24 } },
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
    await hevcProbed;
    const { header, facts } = await examineFile(file, limits, options, traits);
    if (!usesOwnDecoder(header)) return { file, facts };
    const colour = { ...facts.colour, is16Bit: facts.colour.is16Bit && keepsDepth(facts) };
    return { file, facts: { ...facts, colour, ownDecoder: true } };
  },
  open: async (opening) => {
    if (!opening.facts.ownDecoder) return libvipsFile.open(opening);
    const { file, facts, keepsMetadata } = opening;
    return { bytes: await heicAsPng(file, facts, keepsMetadata), options: file.format.options };
  },
};
