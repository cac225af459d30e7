import { srgbToXyz } from './colour-space.ts';
import {
  curveTag,
  encodeS15Fixed16,
  srgbCurve,
  writeProfile,
  writeTag,
} from './written-profile.ts';

/**
 * The table's grid points for cyan, magenta, yellow and black. Red depends only on cyan and black.
 */
const grid = [2, 17, 17, 17] as const;

/** Converts sRGB to the profiles' XYZ, of which a lookup table codes half (ICC.1:2022, 6.3.4.2). */
const toXyz = srgbToXyz.flat().map((value) => value / 2);

/**
 * Creates a profile for CMYK files that lack a profile, with browsers' colours: red, green and blue
 * are each the product of the light that their ink and black leave. By default libvips uses a
 * printer's profile.
 */
export const plainCmykProfile = (): Buffer => writeProfile('CMYK', [['A2B0', lookupTable()]]);

/** Creates a lutAToBType (10.12): a table of the products, sRGB's curve, and its matrix. */
function lookupTable(): Buffer {
  const linear = curveTag([1]);
  const table = Buffer.alloc(2 * 3 * grid.reduce((product, points) => product * points, 1));
  let at = 0;
  for (const cyan of steps(grid[0])) {
    for (const magenta of steps(grid[1])) {
      for (const yellow of steps(grid[2])) {
        for (const black of steps(grid[3])) {
          for (const ink of [cyan, magenta, yellow]) {
            at = table.writeUInt16BE(Math.round(65_535 * (1 - ink) * (1 - black)), at);
          }
        }
      }
    }
  }
  const gridHead = Buffer.alloc(20);
  gridHead.set(grid);
  gridHead.writeUInt8(2, 16);
  const parts = {
    b: Buffer.concat([linear, linear, linear]),
    matrix: encodeS15Fixed16([...toXyz, 0, 0, 0]),
    m: Buffer.concat(new Array<Buffer>(3).fill(curveTag(srgbCurve))),
    table: Buffer.concat([gridHead, table, Buffer.alloc(-table.length & 3)]),
    a: Buffer.concat([linear, linear, linear, linear]),
  };
  const head = Buffer.alloc(24);
  head.set([4, 3]);
  let offset = 32;
  for (const [index, part] of Object.values(parts).entries()) {
    head.writeUInt32BE(offset, 4 + 4 * index);
    offset += part.length;
  }
  return writeTag('mAB ', head, ...Object.values(parts));
}

const steps = (points: number): number[] =>
  Array.from({ length: points }, (_, index) => index / (points - 1));
