import fc from 'fast-check';
import sharp from 'sharp';
import t from 'tap';
import { fitModes, gravities } from '../../../contract/image-terms.ts';
import { withPixels } from '../../../pool/geometry.ts';
import { rasterFormats } from '../../../pool/rendering/encode/encodings.ts';
import { Pipeline } from '../../../pool/rendering/pipeline.ts';
import { makePlan, upright } from '../../../pool/rendering/plan.ts';
import { render } from '../../../pool/rendering/render.ts';
import { findUsedArea } from '../../../pool/rendering/used-area.ts';
import { kernels, strategies, type Variant } from '../../../pool/variant.ts';
import { propertyRuns } from '../../extended.ts';
import { opened, limits as usualLimits } from './drawn.ts';
import { animation, blue, noise, red, shared } from './pictures.ts';
import { readable } from './readable.ts';

const limits = { ...usualLimits, sourceMaxPixels: 400_000 };

const drawing = (width: number, height: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><circle r="9"/></svg>`;
const half = noise(31, 17).ensureAlpha(0.5);
const sources: Record<string, Uint8Array> = {
  jpeg: await noise(60, 40).jpeg().toBuffer(),
  turned: await noise(60, 40).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
  mirrored: await noise(33, 50).withMetadata({ orientation: 7 }).jpeg().toBuffer(),
  grey: await noise(40, 40).toColourspace('b-w').png().toBuffer(),
  deep: await noise(20, 30).toColourspace('rgb16').png().toBuffer(),
  'Display P3': await noise(60, 40).withIccProfile('p3').jpeg().toBuffer(),
  'Display P3, 16 bits': await noise(20, 30)
    .toColourspace('rgb16')
    .withMetadata({ orientation: 6 })
    .withIccProfile('p3')
    .png()
    .toBuffer(),
  cmyk: await noise(20, 30).toColourspace('cmyk').jpeg().toBuffer(),
  clear: await half.png().toBuffer(),
  uniform: await sharp({ create: { width: 20, height: 9, channels: 3, background: 'red' } })
    .png()
    .toBuffer(),
  'one pixel': await noise(1, 1).png().toBuffer(),
  wide: await noise(300, 1).png().toBuffer(),
  high: await noise(2, 200).png().toBuffer(),
  gif: await animation('gif', [red, blue, red], { width: 40, height: 20 }),
  webp: await animation('webp', [red, blue], { width: 9, height: 30 }),
  drawing: Buffer.from(drawing(60, 40)),
  'narrow drawing': Buffer.from(drawing(3, 400)),
  'drawing in inches': Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width=".4in" viewBox="0 0 7.3 2.6"><circle r="9"/></svg>',
  ),
};

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 3 });
const rarely = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
const seldom = fc.oneof(
  { weight: 3, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);
const decimal = (min: number, max: number) =>
  fc.double({ min, max, noNaN: true }).map((value) => Math.round(value * 100) / 100);
const side = fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constantFrom(1, 2, 400, 10_000));
const edge = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constantFrom(0, 6000));
const area = fc.record({
  left: fc.integer({ min: 0, max: 40 }),
  top: fc.integer({ min: 0, max: 40 }),
  width: side,
  height: side,
});
const colour = fc.constantFrom('#ff0000ff', '#00ff0080', '#00000000', '#808080ff');

const share = decimal(0, 1);
const shares = fc.record({
  left: share,
  top: share,
  width: decimal(0.01, 1),
  height: decimal(0.01, 1),
  unit: fc.constant('share' as const),
});

const variants: fc.Arbitrary<Variant> = fc.record({
  crop: fc.oneof(maybe(area), shares),
  trim: rarely(fc.integer({ min: 0, max: 100 })),
  rotate: fc.oneof(fc.constantFrom(0, 0, 90, 180, 270, 45), decimal(0, 359.99)),
  flip: seldom,
  flop: seldom,
  width: maybe(side),
  height: maybe(side),
  widthShare: rarely(decimal(0.01, 3)),
  heightShare: rarely(decimal(0.01, 3)),
  minWidth: rarely(side),
  minHeight: rarely(side),
  zoom: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, decimal(0.1, 10)),
  pixelRatio: fc.constantFrom(1, 1.5, 3),
  aspectRatio: rarely(decimal(0.01, 100)),
  fit: fc.constantFrom(...fitModes),
  position: fc.oneof(
    fc.constantFrom(...gravities, ...strategies),
    fc.record({ x: decimal(0, 1), y: decimal(0, 1) }),
  ),
  enlarge: fc.constantFrom(false, true, 'box' as const),
  kernel: fc.constantFrom(...kernels),
  maxWidth: rarely(side),
  extend: rarely(fc.record({ top: edge, right: edge, bottom: edge, left: edge })),
  background: maybe(colour),
  flatten: seldom,
  grayscale: seldom,
  negate: seldom,
  normalize: seldom,
  gamma: rarely(decimal(1, 3)),
  modulate: rarely(
    fc.record({
      brightness: decimal(0, 10),
      saturation: decimal(0, 10),
      hue: fc.integer({ min: 0, max: 359 }),
      lightness: decimal(-100, 100),
    }),
  ),
  contrast: rarely(fc.integer({ min: -100, max: 100 })),
  backdrop: rarely(fc.record({ blur: maybe(decimal(0.3, 250)) })),
  sepia: rarely(decimal(0, 100)),
  duotone: rarely(fc.record({ dark: colour, light: colour })),
  vignette: rarely(decimal(0, 100)),
  blurarea: rarely(fc.array(area, { minLength: 1, maxLength: 3 })),
  pixelatearea: rarely(fc.array(area, { minLength: 1, maxLength: 3 })),
  pixelate: rarely(fc.integer({ min: 1, max: 200 })),
  tint: rarely(colour),
  threshold: rarely(fc.integer({ min: 0, max: 255 })),
  median: rarely(fc.integer({ min: 1, max: 15 })),
  blur: rarely(decimal(0.3, 100)),
  sharpen: rarely(decimal(0.01, 10)),
  opacity: rarely(decimal(0, 1)),
  outline: rarely(fc.record({ width: fc.integer({ min: 1, max: 1000 }), colour })),
  radius: rarely(
    fc.oneof(
      fc.constant('max' as const),
      fc.record({ topLeft: edge, topRight: edge, bottomRight: edge, bottomLeft: edge }),
    ),
  ),
  layers: fc.constant(null),
  formats: fc.constantFrom(...rasterFormats.map((format) => [format])),
  negotiated: fc.constant(false),
  refused: fc.constant([]),
  lenient: seldom,
  page: rarely(fc.constantFrom(0, 1)),
  animated: fc.constantFrom(true, true, false),
  placeholder: fc.constant(null),
  quality: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant('auto' as const)),
  maxBytes: fc.option(fc.integer({ min: 1, max: 20_000 })),
  lossless: fc.option(seldom),
  chroma: rarely(fc.constantFrom('420' as const, '444' as const)),
  progressive: seldom,
  density: rarely(fc.integer({ min: 30, max: 10_000 })),
  stripMetadata: fc.boolean(),
  copyright: fc.boolean(),
  keepProfile: fc.boolean(),
  gainMap: fc.boolean(),
});

async function planned(source: Uint8Array, requested: Variant) {
  const { lenient } = requested;
  const { facts, open } = await opened(source, limits.sourceMaxPixels, requested);
  const variant = withPixels(requested, upright(facts));
  const content = await findUsedArea(
    facts,
    variant,
    limits.sourceMaxPixels,
    async (scale) => new Pipeline(await open(scale), facts, { animated: false, lenient }, limits),
  );
  return makePlan(facts, content, variant, limits.sourceMaxPixels);
}

t.test(
  'returns outputs of the planned size, within the limits, with the planned profile',
  async (t) => {
    const names = fc.constantFrom(...Object.keys(sources));
    await fc.assert(
      fc.asyncProperty(names, variants, async (name, options) => {
        const source = shared(sources[name] ?? '');
        let plan: Awaited<ReturnType<typeof planned>>;
        try {
          plan = await planned(source, options);
        } catch (error) {
          // A crop outside the source.
          return error instanceof Error && 'code' in error && error.code === 'parameter_invalid';
        }
        const execution = { isolated: true, cost: null };
        const output = await render({ source, layers: [], variant: options, limits, execution });
        if ('isolated' in output) return false;
        // readable returns the first frame of a JPEG XL, with a profile even for sRGB.
        const isJxl = plan.format === 'jxl';
        const body = await readable(output.body);
        const header = await sharp(body, { pages: plan.animated ? -1 : 1 }).metadata();
        const { width, height } = plan;
        const frames = header.pages ?? 1;
        return (
          output.width === width &&
          output.height === height &&
          header.width === width &&
          (header.pageHeight ?? header.height) === height &&
          // Encoders merge equal frames.
          frames <= (plan.timing?.delay.length ?? 1) &&
          (isJxl || header.hasProfile === (plan.profile === 'keep')) &&
          Math.min(width, height) >= 1 &&
          Math.max(width, height) <= 10_000 &&
          width <= (options.maxWidth ?? width) &&
          width * height * frames <= limits.sourceMaxPixels
        );
      }),
      { numRuns: propertyRuns(80) },
    );
    t.pass();
  },
);
