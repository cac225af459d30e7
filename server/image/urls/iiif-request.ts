import { ServiceError } from '../../../contract/errors.ts';
import { maxFramePixels, maxSide } from '../../../pool/bounds.ts';
import { boundsOfRotated, clipArea, type Size, scaleWithin } from '../../../pool/geometry.ts';
import type { Area } from '../../../pool/variant.ts';

/** The versions of the IIIF Image API, 2.1 and 3.0. */
export type IiifVersion = 2 | 3;

/** Output limits, which `info.json` states. */
export interface IiifLimits {
  /** Maximum width and height, in pixels. */
  readonly side: number;
  /** Maximum of width times height. */
  readonly area: number;
}

/** @param maxWidth of the project, in pixels, or null */
export const iiifLimits = (maxWidth: number | null): IiifLimits => ({
  side: Math.min(maxSide, maxWidth ?? maxSide),
  area: maxFramePixels,
});

/** An image request's segments after the identifier. */
export interface IiifTexts {
  readonly region: string;
  readonly size: string;
  readonly rotation: string;
  /** Such as `default.jpg`. */
  readonly file: string;
}

/** An image request for a source of a known size. */
export interface IiifImage {
  readonly parameters: ReadonlyMap<string, string>;
  /** The canonical form of the request, without the identifier. */
  readonly canonical: string;
}

export type IiifRequest = (full: Size, limits: IiifLimits) => IiifImage;

const invalid = (message: string) => new ServiceError('parameter_invalid', message);

const whole = '(\\d{1,9})';
const decimal = '(\\d{1,9}(?:\\.\\d{0,10})?|\\.\\d{1,10})';
const pixelRegion = new RegExp(`^${whole},${whole},${whole},${whole}$`);
const percentRegion = new RegExp(`^pct:${decimal},${decimal},${decimal},${decimal}$`);
const percentSize = new RegExp(`^pct:${decimal}$`);
const confinedSize = new RegExp(`^!${whole},${whole}$`);
const sideSize = /^(\d{0,9}),(\d{0,9})$/;
const rotation = new RegExp(`^(!?)${decimal}$`);

/** The output formats by their extension. IIIF also has `tif`, `jp2` and `pdf`. */
export const iiifFormats = { jpg: 'jpeg', png: 'png', webp: 'webp', gif: 'gif' } as const;
const formats: ReadonlyMap<string, string> = new Map(Object.entries(iiifFormats));

/** IIIF images are still. */
const animatedFormats: readonly string[] = ['gif', 'webp'];

const qualities: ReadonlyMap<string, readonly [name: string, value: string] | null> = new Map([
  ['default', null],
  ['color', null],
  ['gray', ['grayscale', '1']],
  ['bitonal', ['threshold', '128']],
]);

/** Formats an angle like the service, which rounds angles to six decimals. */
const degrees6 = (angle: number): string => String(Number(angle.toFixed(6)));

const numbers = (match: RegExpExecArray): readonly [number, number, number, number] => {
  const [, a, b, c, d] = match;
  return [Number(a), Number(b), Number(c), Number(d)];
};

type ReadRegion = (full: Size) => Area;

function readRegion(text: string): ReadRegion {
  if (text === 'full') return ({ width, height }) => ({ left: 0, top: 0, width, height });
  if (text === 'square') {
    return ({ width, height }) => {
      const side = Math.min(width, height);
      const middle = (length: number) => Math.floor((length - side) / 2);
      return { left: middle(width), top: middle(height), width: side, height: side };
    };
  }
  const pixels = pixelRegion.exec(text);
  const percent = pixels === null ? percentRegion.exec(text) : null;
  const match = pixels ?? percent;
  if (match === null) throw invalid('region must be full, square, x,y,w,h or pct:x,y,w,h.');
  const [x, y, w, h] = numbers(match);
  return (full) => {
    const part = (length: number, value: number) =>
      percent === null ? value : Math.round((length * value) / 100);
    const area = {
      left: part(full.width, x),
      top: part(full.height, y),
      width: part(full.width, w),
      height: part(full.height, h),
    };
    const clipped = clipArea(area, full);
    if (clipped !== null) return clipped;
    throw invalid(`region is empty, or outside the image of ${full.width} × ${full.height}.`);
  };
}

/** The largest scale within the limits. */
const limitScale = (region: Size, { side, area }: IiifLimits) => scaleWithin(region, side, area);

/** A size that keeps the aspect ratio, rounded down if a limit decides, except for errors of the division. */
function scaled({ width, height }: Size, scale: number, limits: IiifLimits): Size {
  const isLimit = scale === limitScale({ width, height }, limits);
  const round = (length: number) => (isLimit ? Math.floor(length + 1e-6) : Math.round(length));
  return { width: Math.max(1, round(width * scale)), height: Math.max(1, round(height * scale)) };
}

const maximum = (region: Size, limits: IiifLimits, mayEnlarge: boolean): Size => {
  const limit = limitScale(region, limits);
  return scaled(region, mayEnlarge ? limit : Math.min(1, limit), limits);
};

const fits = ({ width, height }: Size, { side, area }: IiifLimits): boolean =>
  Math.max(width, height) <= side && width * height <= area;

const tooLarge = ({ side, area }: IiifLimits) =>
  invalid(`The size exceeds ${side} pixels per side, or ${area} pixels in all.`);

type ReadSize = (region: Size, limits: IiifLimits) => Size;

const sizeForms = {
  2: 'size must be full, max, w, or ,h or w,h or !w,h or pct:n.',
  3: 'size must be max, w, or ,h or w,h or !w,h or pct:n, with ^ before it to scale up.',
};

/** Version 2.1 scales up without `^`, and calls the region's size `full`. */
function readSize(text: string, version: IiifVersion): ReadSize {
  const hasCaret = version === 3 && text.startsWith('^');
  const mayEnlarge = version === 2 || hasCaret;
  const form = hasCaret ? text.slice(1) : text;
  if (form === 'max') return (region, limits) => maximum(region, limits, hasCaret);
  const sized = form === 'full' && version === 2 ? (region: Size) => region : readScaled(form);
  if (sized === null) throw invalid(sizeForms[version]);
  return (region, limits) => {
    const { width, height } = sized(region, limits);
    if (width < 1 || height < 1) throw invalid('size is less than a pixel.');
    if (!mayEnlarge && (width > region.width || height > region.height)) {
      const own = `${region.width} × ${region.height}`;
      throw invalid(`size is larger than the region of ${own}: put ^ before it to scale up.`);
    }
    if (!fits({ width, height }, limits)) throw tooLarge(limits);
    return { width, height };
  };
}

/** The size in one of the forms with numbers, or null for another text. */
function readScaled(form: string): ReadSize | null {
  const percent = percentSize.exec(form);
  if (percent !== null) {
    const factor = Number(percent[1]) / 100;
    return ({ width, height }) => ({
      width: Math.round(width * factor),
      height: Math.round(height * factor),
    });
  }
  const confined = confinedSize.exec(form);
  if (confined !== null) {
    const [w, h] = numbers(confined);
    return (region, limits) => {
      const scale = Math.min(w / region.width, h / region.height);
      return scale === 0
        ? { width: 0, height: 0 }
        : scaled(region, Math.min(scale, limitScale(region, limits)), limits);
    };
  }
  const [, w = '', h = ''] = sideSize.exec(form) ?? [];
  if (w === '' && h === '') return null;
  return (region) => ({
    width: w === '' ? following(Number(h), region.width, region.height) : Number(w),
    height: h === '' ? following(Number(w), region.height, region.width) : Number(h),
  });
}

/** The side that follows from the other, at least a pixel unless the other is 0. */
const following = (given: number, own: number, other: number): number =>
  given === 0 ? 0 : Math.max(1, Math.round((own * given) / other));

/** Whether a size keeps the region's aspect ratio, as far as whole pixels allow. */
const keepsRatio = ({ width, height }: Size, region: Size): boolean =>
  height === following(width, region.height, region.width) ||
  width === following(height, region.width, region.height);

const isSame = (a: Size, b: Size): boolean => a.width === b.width && a.height === b.height;

function canonicalSize(size: Size, region: Size, limits: IiifLimits, version: IiifVersion): string {
  const { width, height } = size;
  if (version === 2) {
    if (isSame(size, region)) return 'full';
    const byWidth = height === following(width, region.height, region.width);
    return byWidth ? `${width},` : `${width},${height}`;
  }
  if (isSame(size, maximum(region, limits, false))) return 'max';
  if (isSame(size, maximum(region, limits, true))) return '^max';
  const isEnlarged = width > region.width || height > region.height;
  return `${isEnlarged ? '^' : ''}${width},${height}`;
}

/**
 * Reads an image request. The result checks the parts that depend on the source size.
 * @throws ServiceError parameter_invalid
 */
export function readIiifRequest(texts: IiifTexts, version: IiifVersion): IiifRequest {
  const toRegion = readRegion(texts.region);
  const toSize = readSize(texts.size, version);
  const [, mirror = '', degrees = ''] = rotation.exec(texts.rotation) ?? [];
  const angle = Number(degrees) % 360;
  if (degrees === '' || Number(degrees) > 360) {
    throw invalid('rotation must be a number from 0 to 360, with ! before it to mirror.');
  }
  const [quality = '', extension = '', ...others] = texts.file.split('.');
  const operation = qualities.get(quality);
  if (operation === undefined) {
    throw invalid(`quality must be one of ${[...qualities.keys()].join(', ')}.`);
  }
  const format = formats.get(extension);
  if (format === undefined || others.length > 0) {
    throw invalid(`format must be one of ${[...formats.keys()].join(', ')}.`);
  }
  return (full, limits) => {
    const region = toRegion(full);
    const size = toSize(region, limits);
    if (angle % 90 !== 0 && !keepsRatio(size, region)) {
      throw invalid('rotation must be a multiple of 90 for a size that distorts the region.');
    }
    const { left, top, width, height } = region;
    const isWhole = isSame(region, full);
    const area = `${left},${top},${width},${height}`;
    const turned = boundsOfRotated(size, angle);
    const output = { width: Math.round(turned.width), height: Math.round(turned.height) };
    if (!fits(output, limits)) throw tooLarge(limits);
    const isEnlarged = size.width > width || size.height > height || angle % 90 !== 0;
    const parameters = new Map([
      ['dpr', '1'],
      ['fit', 'fill'],
      ['fmt', format],
      ['h', String(output.height)],
      ['w', String(output.width)],
    ]);
    if (animatedFormats.includes(format)) parameters.set('animated', '0');
    if (!isWhole) parameters.set('crop', area);
    if (isEnlarged) parameters.set('enlarge', '1');
    if (mirror !== '') parameters.set('flop', '1');
    if (operation !== null) parameters.set(...operation);
    if (angle !== 0) parameters.set('rotate', degrees6(angle));
    const canonical = [
      isWhole ? 'full' : area,
      canonicalSize(size, region, limits, version),
      mirror + degrees6(angle),
      `${operation === null ? 'default' : quality}.${extension}`,
    ].join('/');
    return { parameters, canonical };
  };
}
