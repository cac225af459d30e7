import { examineFile, type FileTraits, libvipsFile } from '../file.ts';
import { isHeif, withOpenedBrand } from '../heif/brands.ts';
import { requireConvertibleCodes, unsupportedHeif } from '../heif/encodings.ts';
import { heifParts } from '../heif/parts.ts';
import { withHeifProfile } from '../heif/profile.ts';
import type { FileHeader, SourceFormat } from '../source-format.ts';
import { heicAsPng, keepsDepth } from './decode.ts';
import { decodesHevc, hevcProbed } from './hevc.ts';

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
