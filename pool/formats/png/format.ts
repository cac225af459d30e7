import { crc32 } from 'node:zlib';
import { requirePage, requirePixels } from '../bounds.ts';
import { asBuffer, textAt } from '../bytes.ts';
import { unsupported } from '../errors.ts';
import { checkedHeader, examineWith, libvipsFile } from '../file.ts';
import { requireConvertible } from '../metadata/cicp.ts';
import { ColourSpace } from '../metadata/colour-space.ts';
import { plainFacts, rawInput } from '../raw-pixels.ts';
import type { InspectionResult, SourceFormat } from '../source-format.ts';
import { composeFrames, type PngAnimation, pngAnimation } from './animation.ts';
import { pngColours, withPngProfile } from './colours.ts';
import { pngParts } from './parts.ts';

const examineStill = examineWith({
  decoder: 'png',
  storedFrames: (source) => pngColours(source).frames,
  // libvips 8.18 ignores colour codes, so it reads HDR as sRGB, grey and dark. `withPngProfile` has
  // replaced other codes with a profile.
  check: (source, { hasProfile }) => {
    const codes = hasProfile ? null : pngColours(source).cicp;
    if (codes !== null) requireConvertible(codes.transfer);
  },
});

/** Returns the facts of an animation: `composeFrames` makes sRGB with 8 bits and no EXIF. */
function withFrames(
  { file, facts }: InspectionResult,
  { width, height, loop, frames }: PngAnimation,
  page: number | null,
): InspectionResult {
  const { hasProfile, isSrgb, profileName } = facts.colour;
  const isCovered = frames.every((frame) => frame.width === width && frame.height === height);
  return {
    file,
    facts: {
      ...facts,
      frames: frames.length,
      pages: frames.length,
      page,
      timing: frames.length > 1 ? { delay: frames.map(({ delay }) => delay), loop } : null,
      orientation: 1,
      hasAlpha: facts.hasAlpha || !isCovered,
      colour: { ...plainFacts.colour, hasProfile: hasProfile && !isSrgb, profileName },
    },
  };
}

export const png: SourceFormat = {
  ...libvipsFile,
  name: 'png',
  label: 'PNG',
  extensions: ['png'],
  matches: textAt(0, '\x89PNG\r\n\x1a\n'),
  animates: true,
  cost: { ms: 55, bytes: 4 },
  container: {
    parts: pngParts,
    sequential: true,
    completed: withPngProfile,
    // The checksum of a chunk follows its data, and includes its type.
    seal: (file, [start, end]) =>
      void file.writeUInt32BE(crc32(file.subarray(start - 4, end)), end),
  },
  unsupportedEncoding: (source, cause) =>
    asBuffer(source).toString('latin1', 12, 16) === 'CgBI'
      ? unsupported(
          "The source is a PNG for iOS apps (CgBI), not a standard one. To use it: save it as PNG, without Xcode's compression.",
          cause,
        )
      : null,
  examine: async (file, limits, options) => {
    const animation = pngAnimation(file.bytes);
    if (animation === null) return examineStill(file, limits, options);
    const examined = await examineStill(file, limits, { ...options, page: null });
    const { width, height, frames } = animation;
    if (options.page !== null) requirePage(options.page, frames.length);
    requirePixels(width * height * frames.length, limits.sourceMaxPixels);
    return withFrames(examined, animation, options.page);
  },
  open: async (opening) => {
    const { file, facts, animated, lenient } = opening;
    const animation = pngAnimation(file.bytes);
    if (animation === null) return libvipsFile.open(opening);
    const from = facts.page ?? 0;
    const to = animated ? facts.frames : from + 1;
    const pixels = await composeFrames(animation, { from, to, lenient });
    const { icc } = await checkedHeader(file.bytes, png);
    if (icc !== undefined) ColourSpace.of(icc)?.toSrgb(pixels.data, pixels.channels);
    return rawInput(pixels);
  },
};
