/** Generated from the tables of the service by `npm run docs`. */

/** The transform parameters of an image URL. Absent ones have the defaults of the project. */
export interface ImageOptions {
  /**
   * Width of the output in CSS pixels; the height follows unless it is given too.
   *
   * Accepts a whole number from 1 to 10000. Default: by `h`, a client hint, or the source; at most
   * the project's `maxWidth`. Example: `w: 200`. In URLs also `width`.
   */
  readonly w?: number | undefined;
  /**
   * Height of the output in CSS pixels; the width follows unless it is given too.
   *
   * Accepts a whole number from 1 to 10000. Default: by `w`, or the source. Example: `h: 200`. In
   * URLs also `height`.
   */
  readonly h?: number | undefined;
  /**
   * Aspect ratio of the box: gives the height for w, or the width for h, and has no effect with
   * both. With neither, `cover` cuts the picture to the ratio, `contain` adds background to it,
   * `fill` shortens one side, and `inside` and `outside` change nothing.
   *
   * Accepts width:height, each a number from 1 to 10000, such as 16:9; or their quotient, a number
   * from 0.0001 to 10000. Default: none. Example: `ar: '16:9'`.
   */
  readonly ar?: number | `${number}:${number}` | undefined;
  /**
   * Quality of a lossy output. The same value looks about equally good in every format. `auto`
   * chooses a value from 45 to 89 for each picture, so that different pictures look about equally
   * good; for an animation it is 77.
   *
   * Accepts a whole number from 1 to 100, or auto. Default: the project's `defaultQuality`. Example:
   * `q: 20`. In URLs also `quality`.
   */
  readonly q?: number | 'auto' | undefined;
  /**
   * Format of the output; `jxl` is JPEG XL, and `auto` takes the best one that the client names in
   * Accept. `blurhash`, `thumbhash` and `lqip` return a text to show while the picture loads,
   * `json` returns facts about it, such as its size, colours, focus and a perceptual hash.
   *
   * Accepts one of auto, avif, webp, jpeg, png, gif, jxl, blurhash, thumbhash, lqip, json. Default:
   * `auto`, or the source's format if the project's `autoFormat` is false. Example: `fmt: 'webp'`.
   * In URLs also `f`, `format`.
   */
  readonly fmt?:
    | 'auto'
    | 'avif'
    | 'webp'
    | 'jpeg'
    | 'png'
    | 'gif'
    | 'jxl'
    | 'blurhash'
    | 'thumbhash'
    | 'lqip'
    | 'json'
    | 'jpg'
    | undefined;
  /**
   * How the picture fits the box when both w and h are given: `cover` cuts off the excess, `contain`
   * adds background, `fill` distorts, `inside` and `outside` keep the aspect ratio within or around
   * the box.
   *
   * Accepts one of contain, cover, fill, inside, outside. Default: the project's `defaultFit`.
   * Example: `fit: 'contain'`.
   */
  readonly fit?: 'contain' | 'cover' | 'fill' | 'inside' | 'outside' | undefined;
  /**
   * Device pixels for each CSS pixel: multiplies w, h, extend and the lengths of layers. `auto`
   * takes the client hint.
   *
   * Accepts a number from 1 to 3, or auto. Default: the project's `defaultDpr`. Example: `dpr: 2`.
   */
  readonly dpr?: number | 'auto' | undefined;
  /**
   * The part that `cover` keeps and the place where `contain` puts the picture; also top, right top
   * and so on. `entropy` and `attention` choose the most interesting part.
   *
   * Accepts one of center, north, northeast, east, southeast, south, southwest, west, northwest,
   * entropy, attention. Default: `center`. Example: `pos: 'west'`. In URLs also `position`,
   * `gravity`.
   */
  readonly pos?:
    | 'center'
    | 'north'
    | 'northeast'
    | 'east'
    | 'southeast'
    | 'south'
    | 'southwest'
    | 'west'
    | 'northwest'
    | 'entropy'
    | 'attention'
    | 'centre'
    | 'top'
    | 'right'
    | 'bottom'
    | 'left'
    | undefined;
  /**
   * Focal point: `cover` keeps the part around it, as far as the picture allows. Fractions of the
   * width and the height after crop, trim, flip, flop and rotate. Takes precedence over pos.
   *
   * Accepts x,y: each a number from 0 to 1. Default: none. Example: `fp: [0.7, 0.3]`.
   */
  readonly fp?: readonly [x: number, y: number] | undefined;
  /**
   * Background of the area that the picture does not cover, and of transparency that is flattened.
   *
   * Accepts hex digits without # (3, 4, 6 or 8), or a CSS colour name. Default: transparent; white
   * in an output without transparency. Example: `bg: '0a84ff80'`. In URLs also `background`, `b`.
   */
  readonly bg?: string | undefined;
  /**
   * Scales up a picture that is smaller than the requested size.
   *
   * Default: `0`. Example: `enlarge: true`.
   */
  readonly enlarge?: boolean | undefined;
  /**
   * Interpolation when the picture is scaled.
   *
   * Accepts one of nearest, linear, cubic, mitchell, lanczos2, lanczos3, mks2013, mks2021. Default:
   * `lanczos3`. Example: `kernel: 'nearest'`.
   */
  readonly kernel?:
    | 'nearest'
    | 'linear'
    | 'cubic'
    | 'mitchell'
    | 'lanczos2'
    | 'lanczos3'
    | 'mks2013'
    | 'mks2021'
    | undefined;
  /**
   * Uses only this part of the source, in pixels of the upright source, before all other operations.
   *
   * Accepts left,top,width,height: left and top a whole number from 0 to 100000, width and height a
   * whole number from 1 to 100000. Default: none. Example: `crop: [100, 80, 400, 300]`. In URLs
   * also `extract`.
   */
  readonly crop?: readonly [left: number, top: number, width: number, height: number] | undefined;
  /**
   * Cuts off borders that differ from the corner's colour by at most this value.
   *
   * Accepts nothing, 1 or true for 10, 0 or false for none, or a number from 0 to 100. Default: `0`.
   * Example: `trim: 25`.
   */
  readonly trim?: boolean | number | undefined;
  /**
   * Rotates clockwise by degrees, before the resize; bg fills the corners.
   *
   * Accepts a number from -360 to 360. Default: `0`. Example: `rotate: -12`.
   */
  readonly rotate?: number | undefined;
  /**
   * Mirrors top and bottom, before the rotation.
   *
   * Default: `0`. Example: `flip: true`.
   */
  readonly flip?: boolean | undefined;
  /**
   * Mirrors left and right, before the rotation.
   *
   * Default: `0`. Example: `flop: true`.
   */
  readonly flop?: boolean | undefined;
  /**
   * Adds a border after the resize, in CSS pixels.
   *
   * Accepts top,right,bottom,left: each a whole number from 0 to 2000. Default: `0,0,0,0`. Example:
   * `extend: [10, 10, 40, 10]`.
   */
  readonly extend?: readonly [top: number, right: number, bottom: number, left: number] | undefined;
  /**
   * Replaces transparency with the background.
   *
   * Default: `0`. Example: `flatten: true`.
   */
  readonly flatten?: boolean | undefined;
  /**
   * Removes the colours.
   *
   * Default: `0`. Example: `grayscale: true`. In URLs also `greyscale`.
   */
  readonly grayscale?: boolean | undefined;
  /**
   * Inverts the colours.
   *
   * Default: `0`. Example: `negate: true`.
   */
  readonly negate?: boolean | undefined;
  /**
   * Stretches the luminance over the whole range.
   *
   * Default: `0`. Example: `normalize: true`. In URLs also `normalise`.
   */
  readonly normalize?: boolean | undefined;
  /**
   * Gamma correction around the resize: darkens before it and brightens after it.
   *
   * Accepts a number from 1 to 3. Default: `1`. Example: `gamma: 2.2`.
   */
  readonly gamma?: number | undefined;
  /**
   * Multiplies the brightness.
   *
   * Accepts a number from 0 to 10. Default: `1`. Example: `brightness: 1.3`.
   */
  readonly brightness?: number | undefined;
  /**
   * Multiplies the saturation.
   *
   * Accepts a number from 0 to 10. Default: `1`. Example: `saturation: 2`.
   */
  readonly saturation?: number | undefined;
  /**
   * Rotates the hues, in degrees.
   *
   * Accepts a whole number from -360 to 360. Default: `0`. Example: `hue: 90`.
   */
  readonly hue?: number | undefined;
  /**
   * Adds to the lightness.
   *
   * Accepts a number from -100 to 100. Default: `0`. Example: `lightness: 20`.
   */
  readonly lightness?: number | undefined;
  /**
   * `brightness`, `saturation`, `hue` and `lightness` in one parameter; each by its own name takes
   * precedence.
   *
   * Accepts brightness,saturation,hue,lightness: brightness and saturation a number from 0 to 10,
   * hue a whole number from -360 to 360, lightness a number from -100 to 100. Default: `1,1,0,0`.
   * Example: `modulate: [1.1, 0.5, 180, 0]`.
   */
  readonly modulate?:
    | readonly [brightness: number, saturation: number, hue: number, lightness: number]
    | undefined;
  /**
   * Colours the picture and keeps its luminance.
   *
   * Accepts hex digits without # (3, 4, 6 or 8), or a CSS colour name. Default: none. Example:
   * `tint: 'c08040'`.
   */
  readonly tint?: string | undefined;
  /**
   * Makes pixels that are at least this light white, and the others black.
   *
   * Accepts a whole number from 0 to 255. Default: none. Example: `threshold: 128`.
   */
  readonly threshold?: number | undefined;
  /**
   * Median filter over a square with sides of this length, which removes specks.
   *
   * Accepts a whole number from 1 to 15. Default: `1`. Example: `median: 5`.
   */
  readonly median?: number | undefined;
  /**
   * Gaussian blur with this sigma, in pixels of the output.
   *
   * Accepts nothing, 1 or true for 1, 0 or false for none, or a number from 0.3 to 100. Default:
   * `0`. Example: `blur: 5`.
   */
  readonly blur?: boolean | number | undefined;
  /**
   * Sharpens with an unsharp mask of this sigma, in pixels of the output.
   *
   * Accepts nothing, 1 or true for 1, 0 or false for none, or a number from 0.01 to 10. Default:
   * `0`. Example: `sharpen: 2`.
   */
  readonly sharpen?: boolean | number | undefined;
  /**
   * Multiplies the picture's opacity; the watermark's does not change.
   *
   * Accepts a number from 0 to 1. Default: `1`. Example: `opacity: 0.4`.
   */
  readonly opacity?: number | undefined;
  /**
   * Uses only this page of a TIFF or PDF, image of an AVIF or HEIC, or frame of an animation,
   * counted from 0, as a still picture.
   *
   * Accepts a whole number from 0 to 99999. Default: all frames of an animation, the primary image
   * of an AVIF or HEIC, else the first page. Example: `page: 1`. In URLs also `frame`.
   */
  readonly page?: number | undefined;
  /**
   * Decodes a truncated or damaged JPEG, PNG, GIF or WebP as far as possible, as browsers do.
   *
   * Default: `0`. Example: `lenient: true`.
   */
  readonly lenient?: boolean | undefined;
  /**
   * 0 makes a still picture of an animation.
   *
   * Default: `1`. Example: `animated: false`. In URLs also `a`.
   */
  readonly animated?: boolean | undefined;
  /**
   * Lossless encoding, in WebP, AVIF and JPEG XL; 0 also prevents it for drawings.
   *
   * Default: without visible losses for drawings, if that costs few bytes. Example: `lossless:
   * true`.
   */
  readonly lossless?: boolean | undefined;
  /**
   * Maximum size of a JPEG, WebP, AVIF or JPEG XL in bytes: the quality is the highest that fits, at
   * most q, or near it, found in at most five attempts; quality 1 if none fits. PNG, GIF and
   * `lossless` have no quality to lower.
   *
   * Accepts a whole number from 1 to 100000000. Default: none. Example: `maxbytes: 9000`.
   */
  readonly maxbytes?: number | undefined;
  /**
   * Keeps only the author, copyright and licence of the source's metadata (no location, no camera),
   * regardless of the project's settings; as EXIF and XMP, in every format but GIF. A source that
   * is delivered byte for byte keeps its Content Credentials (C2PA).
   *
   * Accepts one of copyright. Default: all or none, by the project's `stripMetadata`. Example:
   * `keep: 'copyright'`.
   */
  readonly keep?: 'copyright' | undefined;
  /**
   * Keeps the colours of a source in its RGB profile, such as Display P3, and the profile, in every
   * format but GIF; without it colours become sRGB.
   *
   * Accepts one of keep. Default: colours become sRGB, unless the project's `stripMetadata` is
   * false. Example: `icc: 'keep'`.
   */
  readonly icc?: 'keep' | undefined;
  /**
   * Keeps the gain map of a JPEG that has one (Ultra HDR), for HDR screens; the output is a JPEG.
   * Rejected with options that the gain map cannot follow, such as fmt=webp, blur or trim.
   *
   * Accepts one of keep. Default: none. Example: `hdr: 'keep'`.
   */
  readonly hdr?: 'keep' | undefined;
  /**
   * Version of the source, such as a date or a hash. Each version is fetched, rendered and cached as
   * another source would be, so a new one shows a changed picture; it has no other effect.
   *
   * Accepts 1 to 64 letters, digits, dots, hyphens and underscores. Default: none. Example: `v:
   * '2026-11-22'`.
   */
  readonly v?: string | undefined;
  /**
   * The project's preset of this name; parameters of the URL take precedence.
   *
   * Accepts a name, of 1 to 40 characters. Default: none. Example: `preset: 'card'`.
   */
  readonly preset?: string | undefined;
  /**
   * The project's layers of these names, drawn in this order on the picture and its watermark.
   * `text.` and the name of a text layer, such as `text.price=19,90 €`, replaces its words; it
   * needs a signed URL unless the layer allows free texts.
   *
   * Accepts 1 to 10 different names of layers, separated by commas. Default: none. Example: `layer:
   * 'badge'`.
   */
  readonly layer?: string | undefined;
  /**
   * Another source on an allowed host, used when the source cannot be fetched or is not an image.
   * The response then has `X-Fallback` with the code of the error, and is not stored by caches.
   *
   * Accepts an absolute http or https URL. Default: none. Example: `fallback:
   * 'https://shop.example.com/no-picture.png'`.
   */
  readonly fallback?: string | undefined;
  /**
   * Makes browsers save the image under this name, with the extension of its format.
   *
   * Accepts a file name of 1 to 200 characters. Default: none. Example: `download: 'My landscape'`.
   */
  readonly download?: string | undefined;
  /** Words of a text layer of `layer`, such as `'text.price': '19,90 €'`: at most 500 characters. */
  readonly [words: `text.${string}`]: string | undefined;
}

/** The formats of images. */
export type ImageFormat = 'avif' | 'webp' | 'jpeg' | 'png' | 'gif' | 'jxl';

/** The canonical names of parameters that have further names. */
export const canonicalNames: Readonly<Record<string, string>> = {
  // So that it has no other names.
  __proto__: null as never,
  width: 'w',
  height: 'h',
  quality: 'q',
  f: 'fmt',
  format: 'fmt',
  position: 'pos',
  gravity: 'pos',
  background: 'bg',
  b: 'bg',
  extract: 'crop',
  greyscale: 'grayscale',
  normalise: 'normalize',
  frame: 'page',
  a: 'animated',
};

/** The parameters whose values are true or false. */
export const flagName =
  /^(enlarge|flip|flop|flatten|grayscale|negate|normalize|lenient|animated|lossless)$/;

/** The parameters whose values are texts, although some look like numbers. */
export const textName = /^(bg|tint|v|preset|layer|fallback|download)$|^text\./;

/** The most characters of the words of a layer. */
export const maxWords = 500;

/** The widths of a srcset in device pixels: steps to which the service rounds the widths of client hints. */
export const defaultWidths: readonly number[] = [320, 480, 640, 828, 1080, 1440, 1920, 2560, 3840];

/** The most device pixels of a side of an output. */
export const maxSide = 10000;

/** The most pixels of an output. */
export const maxPixels = 40000000;

/** The most pixels of formats with lower limits: lossy and lossless. */
export const pixelLimits: Readonly<Record<string, readonly [lossy: number, lossless: number]>> = {
  auto: [12000000, 4000000],
  avif: [12000000, 4000000],
  webp: [40000000, 12000000],
  jxl: [12000000, 12000000],
};
