import {
  clipped,
  exact,
  high,
  inside,
  ofPart,
  outside,
  type Sample,
  type Templates,
  toSamples,
  whole,
  wide,
  withoutFrame,
} from './sample.ts';

const kept = { enlarge: false };
const part = { width: 400, height: 300 };

/** Paths before the source as of thumbor's documents and libthumbor. */
const templates: Templates = {
  shop: [
    ['{w}x{h}', exact()],
    ['{w}x{h}/smart', exact()],
    ['{w}x0', wide()],
    ['fit-in/{w}x{h}', inside(kept)],
    ['fit-in/{w}x{h}/filters:fill(white)', exact()],
    ['fit-in/{w}x{h}/filters:fill(f5f5f5):quality(80)', exact()],
    ['fit-in/{w}x{h}/filters:fill(auto)', exact()],
    ['fit-in/{w}x{h}/filters:fill(blur)', exact()],
    ['{w}x{h}/smart/filters:quality(70):format(webp)', exact()],
    ['{w}x{h}/filters:round_corner(20,255,255,255)', exact()],
    ['{w}x{h}/filters:round_corner(20,0,0,0,1):format(png)', exact()],
    ['{w}x{h}/filters:watermark({u},-10,-10,50)', exact()],
    ['fit-in/{w}x{h}/filters:watermark({u},center,center,60,20,none)', inside(kept)],
    ['trim/{w}x0', withoutFrame(wide()), 'frame.png'],
    ['trim/fit-in/{w}x{h}/filters:fill(white)', exact(), 'frame.png'],
    ['{w}x{h}/filters:no_upscale()', clipped()],
    ['fit-in/{w}x{h}/filters:no_upscale():quality(75)', inside(kept)],
    ['fit-in/{w}x{h}/filters:background_color(ffffff):format(jpeg)', inside(kept), 'logo.png'],
    ['100x80:500x380/{w}x{h}', exact(), 'photo.jpg'],
    ['{w}x{h}/center/middle/filters:strip_exif()', exact()],
  ],
  magazine: [
    ['{w}x{h}/top', exact()],
    ['{w}x{h}/left/top', exact()],
    ['{w}x{h}/filters:focal(200x100:240x140)', exact()],
    ['{w}x{h}/smart/filters:format(jpeg):quality(60):strip_icc()', exact()],
    ['{w}x0/filters:grayscale()', wide()],
    ['{w}x0/filters:blur(7)', wide()],
    ['{w}x0/filters:blur(10,3):quality(20)', wide()],
    ['{w}x{h}/smart/filters:brightness(10)', exact()],
    ['{w}x{h}/smart/filters:contrast(20)', exact()],
    ['{w}x0/filters:saturation(0.6)', wide()],
    ['{w}x0/filters:sharpen(2,1.0,true)', wide()],
    ['{w}x{h}/smart/filters:max_bytes(60000)', exact()],
    ['{w}x{h}/smart/filters:format(avif)', exact()],
    ['0x{h}', high()],
    ['full-fit-in/{w}x{h}', outside],
    ['{w}x{h}/bottom/filters:format(webp)', exact()],
    [
      '{w}x{h}/filters:[rgb(20,-20,40)~noise(10)~equalize()~colorize(40,40,100,ffffff)~convolution(1;2;1;2;4;2;1;2;1,3,true)]',
      exact(),
    ],
    ['{w}x{h}/smart/filters:quality(80):contrast(-15):brightness(-5)', exact()],
    ['{w}x{h}/right', exact()],
    ['{w}x0/filters:quality(85):format(webp):strip_exif()', wide()],
  ],
  cms: [
    ['', whole],
    ['filters:format(webp)', whole],
    ['{w}x', wide()],
    ['fit-in/{w}x0', wide(kept)],
    ['fit-in/{w}x{h}/filters:upscale()', inside()],
    [
      'adaptive-fit-in/{w}x{h}',
      (source, box) =>
        inside(kept)(
          source,
          source.width >= source.height === box.width >= box.height
            ? box
            : { width: box.height, height: box.width },
        ),
    ],
    [
      'adaptive-full-fit-in/{w}x{h}',
      (source, box) =>
        outside(
          source,
          source.width >= source.height === box.width >= box.height
            ? box
            : { width: box.height, height: box.width },
        ),
    ],
    ['{w}x{h}/filters:rotate(90)', (_, { width, height }) => ({ width: height, height: width })],
    ['{w}x{h}/filters:rotate(180)', exact()],
    ['-{w}x{h}', exact()],
    ['{w}x-{h}', exact()],
    ['100x80:500x380/{w}x0', ofPart(part, wide()), 'photo.jpg'],
    ['{w}x{h}/filters:stretch()', exact()],
    ['trim:top-left:20/{w}x0', withoutFrame(wide()), 'frame.png'],
    ['{w}x{h}/filters:proportion(0.5)', exact(0.5)],
    ['{w}xorig', (source, { width }) => ({ width, height: source.height })],
    ['{w}x{h}/smart/filters:autojpg()', exact()],
    ['{w}x{h}/smart/filters:cover():format(webp)', exact()],
    ['{w}x0/filters:no_upscale():format(webp)', wide(kept)],
    ['fit-in/{w}x{h}/filters:max_age(86400)', inside(kept)],
  ],
  marketplace: [
    ['{w}x{h}/smart/filters:quality([50~60~70~80~90])', exact()],
    ['fit-in/{w}x{h}/filters:fill([white~black~eeeeee~transparent~ff0000])', exact()],
    ['{w}x{h}/filters:watermark({u},10,10,[0~20~40~60~80]):format(jpeg)', exact()],
    ['{w}x{h}/filters:watermark({u},-20,-20,30,25,none):quality(75)', exact()],
    ['{w}x{h}/filters:watermark({u},repeat,repeat,70)', exact()],
    ['{h}x{h}/smart', (_, { height }) => ({ width: height, height })],
    [
      '{h}x{h}/filters:round_corner(500,255,255,255)',
      (_, { height }) => ({ width: height, height }),
    ],
    ['{w}x{h}/smart/filters:blur([3~5~8~12~20])', exact()],
    ['fit-in/{w}x{h}/filters:fill(blur):quality(70)', exact()],
    ['fit-in/{w}x{h}/filters:fill(auto):format(webp)', exact()],
    ['{w}x{h}/[left~right~center~left/bottom~right/top]', exact()],
    ['{w}x{h}/[top~bottom~middle~center/top~center/bottom]/filters:quality(65)', exact()],
    ['{w}x{h}/filters:format([webp~jpeg~png~avif~webp])', exact()],
    ['fit-in/{w}x{h}/filters:quality(75):format(jpeg)', inside(kept)],
    ['100x80:500x380/fit-in/{w}x{h}', ofPart(part, inside(kept)), 'photo.jpg'],
    ['{w}x{h}/smart/filters:grayscale():contrast(10)', exact()],
    ['{w}x{h}/smart/filters:fill(white)', exact()],
    [
      'fit-in/{w}x{h}/filters:background_color([white~red~blue~eeeeee~222222])',
      inside(kept),
      'logo.png',
    ],
    ['{w}x0/filters:sharpen(0.6,1.01,false):quality(80)', wide()],
    [
      '{w}x{h}/smart/filters:strip_icc():strip_exif():quality(70):format(webp):no_upscale()',
      clipped(),
    ],
  ],
};

export const thumborSamples = (base: string): readonly Sample[] =>
  toSamples(
    'thumbor',
    templates,
    (options, picture) => ['/unsafe', options, `${base}/${picture}`].filter(Boolean).join('/'),
    base,
  );
