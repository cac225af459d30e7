import sharp from 'sharp';
import { programUrl } from '../../../contract/package.ts';
import { requirePixels } from '../bounds.ts';
import { asBuffer, textAt } from '../bytes.ts';
import { openAs } from '../container/container.ts';
import { computeDecodingCost, requireDecoderMemory } from '../decoding-cost.ts';
import { examineWith, libvipsFile } from '../file.ts';
import { png } from '../png/format.ts';
import type { DecodingCost, InspectionLimits, SourceFormat } from '../source-format.ts';
import { runDecoder, vipsModule } from '../wasm/run.ts';
import { type JxlHeader, jxlParts, readJxlHeader } from './header.ts';
import type { JxlSource } from './thread.ts';

const entry = programUrl('pool/formats/jxl/thread');

/** @throws ServiceError source_unsupported, source_corrupt, source_too_large */
function jxlHeader(source: Uint8Array, maxPixels: number): JxlHeader {
  const header = readJxlHeader(jxlParts(source, false).codestream);
  requirePixels(header.width * header.height, maxPixels);
  return header;
}

/**
 * Decodes a JPEG XL with libjxl to an upright, uncompressed PNG with its profile; for an animation,
 * decodes the first frame.
 *
 * @param premultiplied true if colours are stored multiplied by alpha
 * @param needsMetadata true to include EXIF and XMP
 * @param maxCpuMs CPU time that the process can use meanwhile
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, transform_timeout
 */
function decodeJxl(
  source: Uint8Array,
  premultiplied: boolean,
  needsMetadata: boolean,
  maxCpuMs: number,
): Promise<Uint8Array> {
  const task = { ...jxlParts(source, needsMetadata), premultiplied };
  return runDecoder<JxlSource>(entry, vipsModule(), task, maxCpuMs);
}

/** Whether libvips decodes JPEG XL; sharp's binaries on npm do not. */
const isBuiltIn = sharp.format.jxl.input.buffer;

/**
 * In WebAssembly, above `processBytes`, which `isolatedCost` counts as 256 MiB. Flat images and
 * noise, with and without loss, take 18 to 21 bytes, and 41 with more than 8 bits; with alpha 30,
 * and 55 with more than 8 bits.
 */
const cost: DecodingCost = { ms: 200, bytes: 22, deep: { ms: 200, bytes: 42 }, alphaFactor: 4 / 3 };
/** Memory of a process that has decoded a small JPEG XL. */
const processBytes = 200 * 2 ** 20;

/**
 * CPU time of a process's first decoding, which compiles the module. The machine that measured the
 * costs takes a fifth of it.
 */
const startMs = 5_000;
/** How much slower a machine can be than the machine that measured the costs. */
const slowness = 3;

/**
 * Reads a source's header, and requires memory for its decoder. Limits the time, because it depends
 * on the data after the header.
 *
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large
 */
function decodableHeader(source: Uint8Array, limits: InspectionLimits) {
  const header = jxlHeader(source, limits.sourceMaxPixels);
  const weight = { ...header, is16Bit: header.bits > 8 };
  requireDecoderMemory(cost, weight, processBytes, limits);
  return { ...weight, maxCpuMs: startMs + slowness * computeDecodingCost(cost, weight).ms };
}

/** Used if libvips does not decode JPEG XL. */
const ownDecoder: Pick<SourceFormat, 'weigh' | 'examine'> = {
  weigh: ({ bytes }, limits) => decodableHeader(bytes, limits),
  examine: async ({ bytes, deliverable }, limits, options) => {
    const { premultiplied, maxCpuMs } = decodableHeader(bytes, limits);
    const needsMetadata = !options.stripMetadata || options.copyright;
    const decoded = await decodeJxl(bytes, premultiplied, needsMetadata, maxCpuMs);
    const file = { ...openAs(png, decoded), deliverable };
    const { facts } = await png.examine(file, limits, options);
    return { file, facts: { ...facts, format: jxl } };
  },
};

/** JPEG XL, which becomes an upright PNG; of an animation its first frame. */
export const jxl: SourceFormat = {
  ...libvipsFile,
  name: 'jxl',
  label: 'JPEG XL',
  extensions: ['jxl'],
  // A codestream alone, and one in boxes (ISO/IEC 18181-2).
  matches: textAt(0, '\xff\x0a', '\0\0\0\x0cJXL \r\n\x87\n'),
  runsIn: 'process',
  isolatedLoader: 'VipsForeignLoadJxl',
  cost,
  container: null,
  ownExif: (file) => {
    const { exif } = jxlParts(file, true);
    return exif && asBuffer(exif);
  },
  ...(isBuiltIn ? { examine: examineWith({ decoder: 'jxl' }) } : ownDecoder),
};
