import { parseQuery, percentDecode } from './read.ts';
import {
  NativeQuery,
  type Size,
  type Source,
  type SourceDocument,
  sourceInvalid,
  sourceMissing,
  type Translation,
  type UrlClient,
  type UrlDialect,
  UrlError,
  type UrlHost,
} from './translation.ts';

/** The characters of a segment (RFC 3986, 3.3), up to the length that a source can have. */
const identifierPattern = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}){1,8192}$/;
/**
 * Up to nine segments, of which the last is `iiif` or a version: another last segment would be a
 * folder of an identifier with unencoded slashes.
 */
const prefixPattern = /^(?:\/[\w.~-]{1,64}){0,8}\/(?:iiif|v?(?:(2)(?:\.[01])?|3(?:\.0)?))$/;

/** A path at its last slashes. */
interface Parts {
  /** The path to the service, with a slash at its start, or ''. */
  readonly prefix: string;
  readonly identifier: string;
  /** The segments after the identifier: `info.json`, or the four segments of an image request. */
  readonly rest: readonly string[];
  /** Null if the prefix does not name one. */
  readonly version: IiifVersion | null;
}

/** Segments of an image request. */
const requestLength = 4;

function readParts(path: string): Parts {
  const segments = path.replace(/\/$/, '').slice(1).split('/', 20);
  const lengths = segments.at(-1) === 'info.json' ? [1] : [requestLength, 0];
  for (const length of lengths) {
    const at = segments.length - length - 1;
    const prefix = segments
      .slice(0, at)
      .map((segment) => `/${segment}`)
      .join('');
    const match = prefixPattern.exec(prefix);
    if (at < 0 || (prefix !== '' && match === null)) continue;
    const version = match === null || prefix.endsWith('iiif') ? null : match[1] === '2' ? 2 : 3;
    return { prefix, identifier: segments[at] ?? '', rest: segments.slice(at + 1), version };
  }
  throw new UrlError(
    'source_not_found',
    'The path is not {prefix}/{identifier}/{region}/{size}/{rotation}/{quality}.{format}: encode slashes of the identifier as %2F, and end a prefix with iiif, 2 or 3.',
  );
}

/** The identifier is a path, with no query and no fragment. */
function readIdentifier(identifier: string): Source {
  if (identifier === '') throw sourceMissing('The identifier is missing.');
  if (!identifierPattern.test(identifier)) {
    throw sourceInvalid('The identifier is not percent-encoded properly.');
  }
  const decoded = percentDecode(identifier);
  if (decoded === null) throw sourceInvalid('The identifier is not UTF-8, percent-encoded.');
  return { path: `/${decoded.replace(/[?#]/g, encodeURIComponent)}` };
}

function translate(path: string, query: string, host: UrlHost): Translation {
  const { prefix, identifier, rest, version } = readParts(path);
  const source = readIdentifier(identifier);
  const url = { source, ignored: [...new Set(parseQuery(query).keys())] };
  const [region, size, rotation, file] = rest;
  if (region === undefined) {
    return { kind: 'redirect', ...url, location: `${prefix}/${identifier}/info.json` };
  }
  const needed = { kind: 'needsSize', ...url, query: new NativeQuery() } as const;
  if (size === undefined || rotation === undefined || file === undefined) {
    return { ...needed, resolve: createInfo({ prefix, identifier, version }, host) };
  }
  const own = version ?? 3;
  const read = readImageRequest({ region, size, rotation, file }, own);
  return {
    ...needed,
    resolve: (full) => {
      const image = read(full, host);
      const link = `<${prefix}/${identifier}/${image.canonical}>;rel="canonical"`;
      const headers = [['link', `${link}, ${profileLink(own)}`]] as const;
      return { kind: 'image', query: image.query, headers };
    },
  };
}

/** Returns `info.json`. Clients of 2.1 at an unversioned URL continue at a versioned URL. */
function createInfo(
  { prefix, identifier, version: named }: Omit<Parts, 'rest'>,
  limits: Limits,
): (full: Size, client: UrlClient) => SourceDocument {
  return (full, { origin, accept }) => {
    const version = named ?? (accept.includes(contextUrl(2)) ? 2 : 3);
    const folder = version === 2 && named === null ? `${prefix}/2` : prefix;
    const info = describeImage(version, `${origin}${folder}/${identifier}`, full, limits);
    return {
      kind: 'document',
      contentType: chooseContentType(version, accept),
      body: JSON.stringify(info),
      headers: [['link', profileLink(version)]],
    };
  };
}

/** Version 3.0 prefers JSON-LD, and 2.1 JSON unless the client names JSON-LD. */
function chooseContentType(version: IiifVersion, accept: string): string {
  const isNamed = accept.includes('application/ld+json');
  const isLinked = version === 3 ? isNamed || !accept.includes('application/json') : isNamed;
  if (!isLinked) return 'application/json';
  return version === 3 ? `application/ld+json;profile="${contextUrl(3)}"` : 'application/ld+json';
}

const protocol = 'http://iiif.io/api/image';
const tileSide = 512;
const namedQualities = ['color', 'gray', 'bitonal'];
/** More than level 2 requires. */
const features = [
  'canonicalLinkHeader',
  'mirroring',
  'profileLinkHeader',
  'rotationArbitrary',
] as const;

const profileUrl = (version: IiifVersion): string => `${protocol}/${version}/level2.json`;
const contextUrl = (version: IiifVersion): string => `${protocol}/${version}/context.json`;
const profileLink = (version: IiifVersion): string => `<${profileUrl(version)}>;rel="profile"`;

/** Powers of two to divide the image by, until it fits one tile. */
function scaleFactors({ width, height }: Size): number[] {
  const factors = [1];
  for (let factor = 1; Math.max(width, height) / factor > tileSide; ) {
    factor *= 2;
    factors.push(factor);
  }
  return factors;
}

/**
 * The image information of a source.
 * @param id the image URL up to the identifier
 */
function describeImage(version: IiifVersion, id: string, full: Size, limits: Limits): object {
  const { width, height } = full;
  const factors = scaleFactors(full);
  const sizes = factors
    .map((factor) => ({ width: Math.ceil(width / factor), height: Math.ceil(height / factor) }))
    .filter((size) => Math.max(size.width, size.height) <= limits.maxSide)
    .filter((size) => size.width * size.height <= limits.maxArea)
    .reverse();
  const tiles = [{ width: tileSide, scaleFactors: factors }];
  const most = { maxWidth: limits.maxSide, maxArea: limits.maxArea };
  const context = { '@context': contextUrl(version) };
  if (version === 2) {
    const profile = {
      formats: Object.keys(formats),
      qualities: ['default', ...namedQualities],
      ...most,
      supports: [...features, 'regionSquare', 'sizeAboveFull'],
    };
    return {
      ...context,
      '@id': id,
      '@type': 'iiif:Image',
      protocol,
      width,
      height,
      sizes,
      tiles,
      profile: [profileUrl(2), profile],
    };
  }
  return {
    ...context,
    id,
    type: 'ImageService3',
    protocol,
    profile: 'level2',
    width,
    height,
    ...most,
    sizes,
    tiles,
    extraFormats: Object.keys(formats).filter((format) => !['jpg', 'png'].includes(format)),
    extraQualities: namedQualities,
    extraFeatures: [...features, 'sizeUpscaling'],
  };
}

/** The versions of the IIIF Image API, 2.1 and 3.0. */
export type IiifVersion = 2 | 3;

/** Output limits, which `info.json` states. */
type Limits = Pick<UrlHost, 'maxSide' | 'maxArea'>;

/** An image request's segments after the identifier. */
interface ImageSegments {
  readonly region: string;
  readonly size: string;
  readonly rotation: string;
  /** Such as `default.jpg`. */
  readonly file: string;
}

/** An image request for a source of a known size. */
interface IiifImage {
  readonly query: NativeQuery;
  /** The request's canonical form after the identifier. */
  readonly canonical: string;
}

type ImageRequest = (full: Size, limits: Limits) => IiifImage;

const invalid = (message: string) => new UrlError('parameter_invalid', message);

const whole = '(\\d{1,9})';
const decimal = '(\\d{1,9}(?:\\.\\d{0,10})?|\\.\\d{1,10})';
const pixelRegion = new RegExp(`^${whole},${whole},${whole},${whole}$`);
const percentRegion = new RegExp(`^pct:${decimal},${decimal},${decimal},${decimal}$`);
const percentSize = new RegExp(`^pct:${decimal}$`);
const confinedSize = new RegExp(`^!${whole},${whole}$`);
const sideSize = /^(\d{0,9}),(\d{0,9})$/;
const rotation = new RegExp(`^(!?)${decimal}$`);

/** The output formats by their extension. IIIF also has `tif`, `jp2` and `pdf`. */
const formats: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  png: 'png',
  webp: 'webp',
  gif: 'gif',
};

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

interface Area extends Size {
  readonly left: number;
  readonly top: number;
}

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
    const [left, top] = [part(full.width, x), part(full.height, y)];
    const width = Math.min(part(full.width, w), full.width - left);
    const height = Math.min(part(full.height, h), full.height - top);
    if (width > 0 && height > 0) return { left, top, width, height };
    throw invalid(`region is empty, or outside the image of ${full.width} × ${full.height}.`);
  };
}

/** The largest scale within the limits. */
const limitScale = ({ width, height }: Size, { maxSide, maxArea }: Limits): number =>
  Math.min(maxSide / width, maxSide / height, Math.sqrt(maxArea / (width * height)));

/** A size that keeps the aspect ratio, rounded down if a limit decides, except for errors of the division. */
function scaled({ width, height }: Size, scale: number, limits: Limits): Size {
  const isLimit = scale === limitScale({ width, height }, limits);
  const round = (length: number) => (isLimit ? Math.floor(length + 1e-6) : Math.round(length));
  return { width: Math.max(1, round(width * scale)), height: Math.max(1, round(height * scale)) };
}

const maximum = (region: Size, limits: Limits, mayEnlarge: boolean): Size => {
  const limit = limitScale(region, limits);
  return scaled(region, mayEnlarge ? limit : Math.min(1, limit), limits);
};

const fits = ({ width, height }: Size, { maxSide, maxArea }: Limits): boolean =>
  Math.max(width, height) <= maxSide && width * height <= maxArea;

const tooLarge = ({ maxSide, maxArea }: Limits) =>
  invalid(`The size exceeds ${maxSide} pixels per side, or ${maxArea} pixels in all.`);

type ReadSize = (region: Size, limits: Limits) => Size;

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

function canonicalSize(size: Size, region: Size, limits: Limits, version: IiifVersion): string {
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

/** Returns the size of a rotated image's bounding box. */
function turned({ width, height }: Size, angle: number): Size {
  if (angle % 180 === 0) return { width, height };
  if (angle % 90 === 0) return { width: height, height: width };
  const radians = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  return {
    width: Math.round(width * cos + height * sin),
    height: Math.round(width * sin + height * cos),
  };
}

/**
 * Reads an image request. The result checks the parts that depend on the source size.
 * @throws UrlError parameter_invalid
 */
export function readImageRequest(texts: ImageSegments, version: IiifVersion): ImageRequest {
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
  const format = Object.hasOwn(formats, extension) ? formats[extension] : undefined;
  if (format === undefined || others.length > 0) {
    throw invalid(`format must be one of ${Object.keys(formats).join(', ')}.`);
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
    const output = turned(size, angle);
    if (!fits(output, limits)) throw tooLarge(limits);
    const isEnlarged = size.width > width || size.height > height || angle % 90 !== 0;
    const query = new NativeQuery();
    query.set('size', 'dpr', 1);
    query.set('size', 'fit', 'fill');
    query.set('format', 'fmt', format);
    query.set('size', 'h', output.height);
    query.set('size', 'w', output.width);
    if (animatedFormats.includes(format)) query.set('format', 'animated', false);
    if (!isWhole) query.set('region', 'crop', area);
    if (isEnlarged) query.set('size', 'enlarge', true);
    if (mirror !== '') query.set('rotation', 'flop', true);
    if (operation !== null) query.set('quality', ...operation);
    if (angle !== 0) query.set('rotation', 'rotate', degrees6(angle));
    const canonical = [
      isWhole ? 'full' : area,
      canonicalSize(size, region, limits, version),
      mirror + degrees6(angle),
      `${operation === null ? 'default' : quality}.${extension}`,
    ].join('/');
    return { query, canonical };
  };
}

/** URLs of the IIIF Image API 3.0 and 2.1. */
export const iiif: UrlDialect = { title: 'IIIF Image API', translate };
