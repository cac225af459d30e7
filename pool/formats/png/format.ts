import { crc32 } from 'node:zlib';
import { bufferOf, textAt } from '../bytes.ts';
import { unsupported } from '../errors.ts';
import { examineWith, libvipsFile } from '../file.ts';
import { requireConvertible } from '../metadata/cicp.ts';
import type { SourceFormat } from '../source-format.ts';
import { pngColours, withPngProfile } from './colours.ts';
import { pngParts } from './parts.ts';

export const png: SourceFormat = {
  ...libvipsFile,
  name: 'png',
  label: 'PNG',
  extensions: ['png'],
  matches: textAt(0, '\x89PNG\r\n\x1a\n'),
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
    bufferOf(source).toString('latin1', 12, 16) === 'CgBI'
      ? unsupported(
          'The source is a PNG for iOS apps (CgBI), not a standard one. To use it: save it as PNG, without the compression of Xcode.',
          cause,
        )
      : null,
  examine: examineWith({
    decoder: 'png',
    storedFrames: (source) => pngColours(source).frames,
    // libvips 8.18 ignores colour codes: it reads HDR as sRGB, grey and dark. Other codes have become a profile.
    check: (source, { hasProfile }) => {
      const codes = hasProfile ? null : pngColours(source).cicp;
      if (codes !== null) requireConvertible(codes.transfer);
    },
  }),
};
