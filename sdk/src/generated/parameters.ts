/** Generated from the tables of the service by `npm run docs`. */

/** Transform parameters of an image URL. Absent parameters use the project's defaults. */
export interface ImageOptions {
  /**
   * Output width in CSS pixels. Without `h`, the height keeps the aspect ratio.
   *
   * Accepts a whole number from 1 to 10000. Default: from `h`, a client hint or the source, up to
   * the project's `maxWidth`. Example: `w: 200`. In URLs also `width`.
   */
  readonly w?: number | undefined;
  /**
   * Output height in CSS pixels. Without `w`, the width keeps the aspect ratio.
   *
   * Accepts a whole number from 1 to 10000. Default: from `w` or the source. Example: `h: 200`. In
   * URLs also `height`.
   */
  readonly h?: number | undefined;
  /**
   * Aspect ratio of the box. Sets the height for `w` or the width for `h`; ignored with both. With
   * neither, `cover` crops the image to the ratio, `contain` pads it, and `fill` shortens one side.
   *
   * Accepts width:height, each a number from 1 to 10000, such as 16:9; or their quotient, a number
   * from 0.0001 to 10000. Default: –. Example: `ar: '16:9'`.
   */
  readonly ar?: number | `${number}:${number}` | undefined;
  /**
   * Quality of lossy output, on one scale for all formats. `auto` chooses a value from 45 to 89 per
   * image, so that different images look about equally good; animations get 77.
   *
   * Accepts a whole number from 1 to 100, or auto. Default: the project's `defaultQuality`. Example:
   * `q: 20`. In URLs also `quality`.
   */
  readonly q?: number | 'auto' | undefined;
  /**
   * Output format. `auto` chooses the best format that `Accept` names; `jxl` is JPEG XL. `blurhash`,
   * `thumbhash` and `lqip` return a text placeholder to show while the image loads; `json` returns
   * facts about the image.
   *
   * Accepts one of auto, avif, webp, jpeg, png, gif, jxl, svg, blurhash, thumbhash, lqip, json.
   * Default: `auto`, or the source's format if the project's `autoFormat` is false. Example: `fmt:
   * 'webp'`. In URLs also `f`, `format`.
   */
  readonly fmt?:
    | 'auto'
    | 'avif'
    | 'webp'
    | 'jpeg'
    | 'png'
    | 'gif'
    | 'jxl'
    | 'svg'
    | 'blurhash'
    | 'thumbhash'
    | 'lqip'
    | 'json'
    | 'jpg'
    | undefined;
  /**
   * How the image fits the box of `w` and `h`: `cover` crops, `contain` pads with background, `fill`
   * distorts, `inside` and `outside` keep the aspect ratio within or around the box.
   *
   * Accepts one of contain, cover, fill, inside, outside. Default: the project's `defaultFit`.
   * Example: `fit: 'contain'`.
   */
  readonly fit?: 'contain' | 'cover' | 'fill' | 'inside' | 'outside' | undefined;
  /**
   * Device pixels per CSS pixel: multiplies `w`, `h`, `extend` and layer lengths. `auto` uses the
   * client hint.
   *
   * Accepts a number from 1 to 3, or auto. Default: the project's `defaultDpr`. Example: `dpr: 2`.
   */
  readonly dpr?: number | 'auto' | undefined;
  /**
   * Part of the image that `cover` keeps, or where `contain` places the image. Words such as top and
   * right top also work; `entropy` and `attention` find the most interesting part.
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
   * Focal point that `cover` keeps: fractions of the width and height after `crop`, `trim`, `flip`,
   * `flop` and `rotate`. Overrides `pos`.
   *
   * Accepts x,y: each a number from 0 to 1. Default: –. Example: `fp: [0.7, 0.3]`.
   */
  readonly fp?: readonly [x: number, y: number] | undefined;
  /**
   * Background colour for padding and flattened transparency.
   *
   * Accepts hex digits without # (3, 4, 6 or 8), or a CSS colour name. Default: transparent; white
   * in formats without transparency. Example: `bg: '0a84ff80'`. In URLs also `background`, `b`.
   */
  readonly bg?: string | undefined;
  /**
   * Scales up smaller images. `box` does not scale up, but keeps the box: `contain` pads the image,
   * even to a single side; `cover` and `fill` limit each side to the image's; `dpr` decreases, at
   * most to 1, if the image has too few pixels.
   *
   * Accepts empty, 1 or true, or 0 or false, or box. Default: `0`. Example: `enlarge: true`.
   */
  readonly enlarge?: boolean | 'box' | undefined;
  /**
   * Interpolation kernel for scaling.
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
   * Crops the source before all other operations, in pixels of the upright source.
   *
   * Accepts left,top,width,height: left and top a whole number from 0 to 100000, width and height a
   * whole number from 1 to 100000. Default: –. Example: `crop: [100, 80, 400, 300]`. In URLs also
   * `extract`.
   */
  readonly crop?: readonly [left: number, top: number, width: number, height: number] | undefined;
  /**
   * Removes borders that differ from the corner's colour by at most this value.
   *
   * Accepts empty, 1 or true for 10, 0 or false to disable it, or a number from 0 to 100. Default:
   * `0`. Example: `trim: 25`.
   */
  readonly trim?: boolean | number | undefined;
  /**
   * Rotates clockwise, in degrees, before the resize. `bg` fills the corners.
   *
   * Accepts a number from -360 to 360. Default: `0`. Example: `rotate: -12`.
   */
  readonly rotate?: number | undefined;
  /**
   * Mirrors vertically before the rotation.
   *
   * Default: `0`. Example: `flip: true`.
   */
  readonly flip?: boolean | undefined;
  /**
   * Mirrors horizontally before the rotation.
   *
   * Default: `0`. Example: `flop: true`.
   */
  readonly flop?: boolean | undefined;
  /**
   * Adds a border in CSS pixels after the resize.
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
   * Converts to grey.
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
   * Stretches the luminance to the full range.
   *
   * Default: `0`. Example: `normalize: true`. In URLs also `normalise`.
   */
  readonly normalize?: boolean | undefined;
  /**
   * Gamma correction: darkens before the resize and brightens after it.
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
   * Rotates the hue, in degrees.
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
   * `brightness`, `saturation`, `hue` and `lightness` in one parameter. The separate parameters
   * override it.
   *
   * Accepts brightness,saturation,hue,lightness: brightness and saturation a number from 0 to 10,
   * hue a whole number from -360 to 360, lightness a number from -100 to 100. Default: `1,1,0,0`.
   * Example: `modulate: [1.1, 0.5, 180, 0]`.
   */
  readonly modulate?:
    | readonly [brightness: number, saturation: number, hue: number, lightness: number]
    | undefined;
  /**
   * Tints the image and keeps its luminance.
   *
   * Accepts hex digits without # (3, 4, 6 or 8), or a CSS colour name. Default: –. Example: `tint:
   * 'c08040'`.
   */
  readonly tint?: string | undefined;
  /**
   * Makes pixels of at least this lightness white and all others black.
   *
   * Accepts a whole number from 0 to 255. Default: –. Example: `threshold: 128`.
   */
  readonly threshold?: number | undefined;
  /**
   * Median filter over a square with this side length; removes specks.
   *
   * Accepts a whole number from 1 to 15. Default: `1`. Example: `median: 5`.
   */
  readonly median?: number | undefined;
  /**
   * Gaussian blur with this sigma, in output pixels.
   *
   * Accepts empty, 1 or true for 1, 0 or false to disable it, or a number from 0.3 to 100. Default:
   * `0`. Example: `blur: 5`.
   */
  readonly blur?: boolean | number | undefined;
  /**
   * Unsharp mask with this sigma, in output pixels.
   *
   * Accepts empty, 1 or true for 1, 0 or false to disable it, or a number from 0.01 to 10. Default:
   * `0`. Example: `sharpen: 2`.
   */
  readonly sharpen?: boolean | number | undefined;
  /**
   * Multiplies the image's opacity; the watermark keeps its own.
   *
   * Accepts a number from 0 to 1. Default: `1`. Example: `opacity: 0.4`.
   */
  readonly opacity?: number | undefined;
  /**
   * Renders a single page of a TIFF or PDF, image of an AVIF or HEIC, or frame of an animation,
   * counted from 0.
   *
   * Accepts a whole number from 0 to 99999. Default: all frames of an animation, the primary image
   * of an AVIF or HEIC, otherwise the first page. Example: `page: 1`. In URLs also `frame`.
   */
  readonly page?: number | undefined;
  /**
   * Decodes truncated or damaged JPEGs, PNGs, GIFs and WebPs as far as possible.
   *
   * Default: `0`. Example: `lenient: true`.
   */
  readonly lenient?: boolean | undefined;
  /**
   * `0` renders a still image of an animation.
   *
   * Default: `1`. Example: `animated: false`. In URLs also `a`.
   */
  readonly animated?: boolean | undefined;
  /**
   * Lossless encoding for WebP, AVIF and JPEG XL. `0` also disables it for drawings.
   *
   * Default: drawings are encoded without visible loss if that adds few bytes. Example: `lossless:
   * true`.
   */
  readonly lossless?: boolean | undefined;
  /**
   * Maximum bytes of a JPEG, WebP, AVIF or JPEG XL: lowers the quality from `q` to about the highest
   * that fits, or to 1. PNG, GIF and lossless output have no quality to lower.
   *
   * Accepts a whole number from 1 to 100000000. Default: –. Example: `maxbytes: 9000`.
   */
  readonly maxbytes?: number | undefined;
  /**
   * Keeps only author, copyright and licence metadata, as EXIF and XMP, in every format except GIF,
   * regardless of the project's settings. Sources delivered byte for byte keep their Content
   * Credentials (C2PA).
   *
   * Accepts copyright. Default: all metadata or none, depending on the project's `stripMetadata`.
   * Example: `keep: 'copyright'`.
   */
  readonly keep?: 'copyright' | undefined;
  /**
   * Keeps the source colours in their RGB profile, such as Display P3, in every format except GIF.
   *
   * Accepts keep. Default: colours are converted to sRGB unless the project's `stripMetadata` is
   * false. Example: `icc: 'keep'`.
   */
  readonly icc?: 'keep' | undefined;
  /**
   * Keeps the gain map of an Ultra HDR JPEG for HDR screens; the output is a JPEG. For such a
   * source, options that the gain map cannot follow, such as `fmt=webp`, `blur` or `trim`, return
   * 400; other sources ignore `hdr`.
   *
   * Accepts keep. Default: –. Example: `hdr: 'keep'`.
   */
  readonly hdr?: 'keep' | undefined;
  /**
   * Source version, such as a date or a hash. Each version is fetched, rendered and cached
   * separately, so a new version shows a changed source.
   *
   * Accepts 1 to 64 letters, digits, dots, hyphens and underscores. Default: –. Example: `v:
   * '2026-11-22'`.
   */
  readonly v?: string | undefined;
  /**
   * Applies the project's preset with this name. Parameters in the URL override it.
   *
   * Accepts a name, of 1 to 40 characters. Default: –. Example: `preset: 'card'`.
   */
  readonly preset?: string | undefined;
  /**
   * Draws the project's layers with these names, in this order. A parameter such as
   * `text.price=19,90 €` replaces the text of the layer `price`; it requires a signed URL unless
   * the layer allows free text.
   *
   * Accepts 1 to 10 different names of layers, separated by commas. Default: –. Example: `layer:
   * 'badge'`.
   */
  readonly layer?: string | undefined;
  /**
   * Another source on an allowed host, used if the source cannot be fetched or is not an image.
   * Caches do not store the response, and `X-Fallback` contains the error code.
   *
   * Accepts an absolute http or https URL. Default: –. Example: `fallback:
   * 'https://shop.example.com/no-image.png'`.
   */
  readonly fallback?: string | undefined;
  /**
   * Makes browsers save the image under this name, plus the extension of its format.
   *
   * Accepts a file name of 1 to 200 characters. Default: –. Example: `download: 'My landscape'`.
   */
  readonly download?: string | undefined;
  /** Words of a text layer of `layer`, such as `'text.price': '19,90 €'`: at most 500 characters. */
  readonly [words: `text.${string}`]: string | undefined;
}

/** Image formats. */
export type ImageFormat = 'avif' | 'webp' | 'jpeg' | 'png' | 'gif' | 'jxl' | 'svg';

/** Canonical names of parameters with several names. */
export const canonicalNames: Readonly<Record<string, string>> = {
  // This table inherits no other names.
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

/** Parameters with the values 1 and 0 for true and false. */
export const flagName =
  /^(enlarge|flip|flop|flatten|grayscale|negate|normalize|lenient|animated|lossless)$/;

/** Parameters with text values, although some look like numbers. */
export const textName = /^(bg|tint|v|preset|layer|fallback|download)$|^text\./;

/** Maximum number of characters in a layer's words. */
export const maxWords = 500;

/** Srcset widths in device pixels: the steps to which the service rounds client-hint widths. */
export const defaultWidths: readonly number[] = [320, 480, 640, 828, 1080, 1440, 1920, 2560, 3840];

/** Maximum device pixels per output side. */
export const maxSide = 10000;

/** Maximum pixels per output. */
export const maxPixels = 40000000;

/** Maximum pixels in formats with lower limits: lossy and lossless. */
export const pixelLimits: Readonly<Record<string, readonly [lossy: number, lossless: number]>> = {
  auto: [12000000, 4000000],
  avif: [12000000, 4000000],
  webp: [40000000, 12000000],
  jxl: [12000000, 12000000],
};
