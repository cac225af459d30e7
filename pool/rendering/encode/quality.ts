/** The settings of an encoder whose quality is on its own scale; each has a curve of its own. */
export type Mode = 'jpeg' | 'jpegFull' | 'webp' | 'webpSharp' | 'avif' | 'avifGraphic';

/** Pixels of the output for which the columns of the curves were measured. */
const columns = [25_000, 100_000, 400_000, 1_600_000] as const;

/** An encoder's own qualities for one requested quality, in the columns' order. */
type Own = readonly [number, number, number, number];
type Curve = readonly (readonly [requested: number, own: Own])[];

const avif: Curve = [
  [1, [1, 1, 1, 1]],
  [10, [18, 14, 10, 8]],
  [20, [35, 32, 30, 28]],
  [30, [41, 40, 39, 37]],
  [40, [45, 44, 43, 42]],
  [50, [50, 49, 48, 48]],
  [60, [53, 53, 53, 53]],
  [70, [58, 58, 58, 58]],
  [80, [64, 66, 66, 67]],
  [90, [72, 75, 78, 79]],
  [95, [82, 86, 87, 86]],
  [100, [100, 100, 100, 100]],
];

/**
 * Requested quality is on the scale of JPEG with the standard's tables (Annex K) and 4:2:0. These curves
 * convert it to the qualities of the encoders at the service's settings that have the same
 * SSIMULACRA2: means over 28 photographs (21 at 1600 px), whose longer side is 200, 400, 800 and 1600 px
 * (bench/encoders/README.md names them). `npm run bench:encoders -- --photographs FOLDER --ssimulacra2
 * COMMAND --calibrate` prints the points. Those of WebP and of AVIF, whose quality has steps, were then
 * changed by up to 4 by the scores that the service's encoder had on these, on ten more photographs and
 * on 35 others (14 at 1600 px). JPEG with our own table and 4:2:0 differs from the scale by
 * at most 2 and needs no curve. Below 10 and from 95 to 100 the curves are only monotonic.
 */
const curves: Readonly<Partial<Record<Mode, Curve>>> = {
  jpegFull: [
    [1, [1, 1, 1, 1]],
    [10, [10, 10, 10, 10]],
    [20, [19, 19, 18, 18]],
    [30, [27, 28, 27, 27]],
    [40, [33, 35, 36, 36]],
    [50, [40, 43, 43, 44]],
    [60, [45, 50, 51, 52]],
    [70, [56, 61, 63, 63]],
    [80, [67, 72, 74, 73]],
    [90, [81, 84, 85, 85]],
    [95, [88, 89, 90, 90]],
    [100, [100, 100, 100, 100]],
  ],
  webp: [
    [1, [1, 1, 1, 1]],
    [10, [3, 3, 3, 3]],
    [20, [14, 14, 13, 13]],
    [30, [29, 29, 28, 30]],
    [40, [41, 42, 44, 46]],
    [50, [52, 56, 58, 61]],
    [60, [61, 64, 69, 72]],
    [70, [74, 77, 79, 81]],
    [80, [81, 84, 86, 87]],
    [90, [89, 91, 92, 94]],
    [95, [96, 97, 98, 98]],
    [100, [100, 100, 100, 100]],
  ],
  webpSharp: [
    [1, [1, 1, 1, 1]],
    [30, [22, 22, 22, 22]],
    [40, [31, 33, 36, 37]],
    [50, [43, 49, 53, 54]],
    [60, [54, 60, 65, 66]],
    [70, [66, 74, 77, 78]],
    [80, [77, 81, 83, 85]],
    [90, [86, 89, 91, 92]],
    [95, [92, 94, 95, 96]],
    [100, [100, 100, 100, 100]],
  ],
  avif,
  avifGraphic: avif,
};

/**
 * @param requested 1..100 on JPEG's scale
 * @param pixels of the output
 * @returns 1..100, whole, on the encoder's own scale
 */
export function ownQuality(mode: Mode, requested: number, pixels: number): number {
  const curve = curves[mode];
  if (curve === undefined) return requested;
  const after = Math.max(
    1,
    curve.findIndex(([quality]) => requested <= quality),
  );
  const [low, lowOwn] = curve[after - 1] ?? [1, [1, 1, 1, 1]];
  const [high, highOwn] = curve[after] ?? [100, [100, 100, 100, 100]];
  const part = (requested - low) / (high - low);
  return Math.round(mix(bySize(lowOwn, pixels), bySize(highOwn, pixels), part));
}

/** Linear in the logarithm of the pixels; the outer columns hold beyond them. */
function bySize(own: Own, pixels: number): number {
  const [first] = columns;
  const at = Math.log(Math.max(1, pixels) / first) / Math.log(4);
  const within = Math.min(Math.max(at, 0), columns.length - 1);
  const column = Math.min(Math.floor(within), columns.length - 2);
  return mix(own[column] ?? 0, own[column + 1] ?? 0, within - column);
}

const mix = (from: number, to: number, part: number): number => from + part * (to - from);
