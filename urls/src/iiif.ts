import { lookUp, parseQuery, percentDecode } from './read.ts';
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

/** The versions of the IIIF Image API, 2.1 and 3.0. */
type IiifVersion = 2 | 3;

/** Output limits, which `info.json` states. */
type Limits = Pick<UrlHost, 'maxSide' | 'maxArea'>;

/** The characters of a segment (RFC 3986, 3.3), up to the length that a source can have. */
const identifierPattern = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}){1,8192}$/;

/**
 * A prefix has up to nine segments, of which the last is `iiif` or a version: another last segment
 * would be a folder of an identifier with unencoded slashes.
 */
const pathPattern = new RegExp(
  [
    '^(?<prefix>(?:/[\\w.~-]{1,64}){0,8}/(?:iiif|v?(?:(?<second>2)(?:\\.[01])?|3(?:\\.0)?)))?',
    '/(?<identifier>[^/]*)',
    '(?:/(?:(?<info>info\\.json)',
    '|(?<region>[^/]*)/(?<size>[^/]*)/(?<rotation>[^/]*)/(?<file>[^/]*)))?/?$',
  ].join(''),
);

const invalid = (message: string) => new UrlError('parameter_invalid', message);

function translate(path: string, query: string, host: UrlHost): Translation {
  const parts = pathPattern.exec(path)?.groups;
  if (parts === undefined) {
    throw new UrlError(
      'source_not_found',
      'The path is not {prefix}/{identifier}/{region}/{size}/{rotation}/{quality}.{format}: encode slashes of the identifier as %2F, and end a prefix with iiif, 2 or 3.',
    );
  }
  const { prefix = '', identifier = '', second, info, region, size, rotation, file } = parts;
  const version = second === undefined ? 3 : 2;
  const ignored = [...new Set(parseQuery(query).keys())];
  const url = { source: readIdentifier(identifier), ignored };
  const id = `${prefix}/${identifier}`;
  if (region === undefined || size === undefined || rotation === undefined || file === undefined) {
    if (info === undefined) return { kind: 'redirect', ...url, location: `${id}/info.json` };
    return {
      kind: 'needsSize',
      ...url,
      query: new NativeQuery(),
      resolve: (full, client) => createInfo(version, id, full, host, client),
    };
  }
  const request = readImageRequest({ region, size, rotation, file }, version);
  return {
    kind: 'needsSize',
    ...url,
    query: new NativeQuery(),
    resolve: (full) => ({ kind: 'image', query: toQuery(request, full, host) }),
  };
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

const protocol = 'http://iiif.io/api/image';
const tileSide = 512;

/** The output formats by their extension. IIIF also has `tif`, `jp2` and `pdf`. */
const formats: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  png: 'png',
  webp: 'webp',
  gif: 'gif',
};

/** The parameter that makes the named quality, or null. */
const qualities: Readonly<Record<string, readonly [name: string, value: string] | null>> = {
  default: null,
  color: null,
  gray: ['grayscale', '1'],
  bitonal: ['threshold', '128'],
};

/**
 * Returns the image information of a source.
 * @param path of the image URL up to the identifier
 */
function createInfo(
  version: IiifVersion,
  path: string,
  full: Size,
  { maxSide, maxArea }: Limits,
  { origin, accept }: UrlClient,
): SourceDocument {
  const id = `${origin}${path}`;
  const { width, height } = full;
  // Powers of two to divide the image by, until it fits one tile.
  const factors = [1];
  while (Math.max(width, height) > tileSide * 2 ** (factors.length - 1)) {
    factors.push(2 ** factors.length);
  }
  const sizes = factors
    .map((factor) => ({ width: Math.ceil(width / factor), height: Math.ceil(height / factor) }))
    .filter((size) => fits(size, { maxSide, maxArea }))
    .reverse();
  const context = `${protocol}/${version}/context.json`;
  const image = {
    protocol,
    width,
    height,
    sizes,
    tiles: [{ width: tileSide, scaleFactors: factors }],
  };
  const most = { maxWidth: maxSide, maxArea };
  const [extensions, names] = [Object.keys(formats), Object.keys(qualities)];
  /** More than level 2 requires. */
  const features = ['mirroring', 'rotationArbitrary'];
  if (version === 2) {
    const supports = [...features, 'regionSquare', 'sizeAboveFull'];
    const profile = { formats: extensions, qualities: names, ...most, supports };
    const body = {
      '@context': context,
      '@id': id,
      '@type': 'iiif:Image',
      ...image,
      profile: [`${protocol}/2/level2.json`, profile],
    };
    // Version 2.1 sends JSON unless the client names JSON-LD, and 3.0 may always send JSON-LD.
    const isNamed = accept.includes('application/ld+json');
    const contentType = isNamed ? 'application/ld+json' : 'application/json';
    return { kind: 'document', contentType, body: JSON.stringify(body) };
  }
  const body = {
    '@context': context,
    id,
    type: 'ImageService3',
    profile: 'level2',
    ...image,
    ...most,
    extraFormats: extensions.filter((format) => !['jpg', 'png'].includes(format)),
    extraQualities: names.filter((name) => name !== 'default'),
    extraFeatures: [...features, 'sizeUpscaling'],
  };
  const contentType = `application/ld+json;profile="${context}"`;
  return { kind: 'document', contentType, body: JSON.stringify(body) };
}

/** An image request's segments after the identifier. */
interface ImageSegments {
  readonly region: string;
  readonly size: string;
  readonly rotation: string;
  /** Such as `default.jpg`. */
  readonly file: string;
}

/** A valid request, unless the source size forbids it. */
interface ImageRequest {
  readonly region: string;
  readonly size: string;
  readonly mayEnlarge: boolean;
  readonly isMirrored: boolean;
  /** Degrees from 0, less than 360. */
  readonly angle: number;
  readonly operation: readonly [name: string, value: string] | null;
  readonly format: string;
}

const whole = '\\d{1,9}';
const decimal = '(?:\\d{1,9}(?:\\.\\d{0,10})?|\\.\\d{1,10})';
const regionForm = new RegExp(
  `^(?:full|square|${whole}(?:,${whole}){3}|pct:${decimal}(?:,${decimal}){3})$`,
);
const sizes = `max|!?${whole},${whole}|${whole},|,${whole}|pct:${decimal}`;
/** Version 2.1 scales up without `^`, and calls the region's size `full`. */
const sizeForms = {
  2: {
    form: new RegExp(`^(?:full|${sizes})$`),
    rule: 'size must be full, max, w, or ,h or w,h or !w,h or pct:n.',
  },
  3: {
    form: new RegExp(`^\\^?(?:${sizes})$`),
    rule: 'size must be max, w, or ,h or w,h or !w,h or pct:n, with ^ before it to scale up.',
  },
};
const rotationForm = new RegExp(`^(!?)(${decimal})$`);

/** @throws UrlError parameter_invalid */
function readImageRequest(texts: ImageSegments, version: IiifVersion): ImageRequest {
  const { region, size } = texts;
  if (!regionForm.test(region)) {
    throw invalid('region must be full, square, x,y,w,h or pct:x,y,w,h.');
  }
  const { form, rule } = sizeForms[version];
  if (!form.test(size)) throw invalid(rule);
  const [, mirror = '', degrees = ''] = rotationForm.exec(texts.rotation) ?? [];
  if (degrees === '' || Number(degrees) > 360) {
    throw invalid('rotation must be a number from 0 to 360, with ! before it to mirror.');
  }
  const [quality = '', extension = '', ...others] = texts.file.split('.');
  const operation = lookUp(qualities, quality);
  if (operation === undefined) {
    throw invalid(`quality must be one of ${Object.keys(qualities).join(', ')}.`);
  }
  const format = lookUp(formats, extension);
  if (format === undefined || others.length > 0) {
    throw invalid(`format must be one of ${Object.keys(formats).join(', ')}.`);
  }
  return {
    region,
    size: size.replace('^', ''),
    // The largest size of version 2.1 is the region's.
    mayEnlarge: size.startsWith('^') || (version === 2 && size !== 'max'),
    isMirrored: mirror !== '',
    angle: Number(degrees) % 360,
    operation,
    format,
  };
}

/** @throws UrlError parameter_invalid */
function toQuery(request: ImageRequest, full: Size, limits: Limits): NativeQuery {
  const { angle, operation, format } = request;
  const region = cutRegion(request.region, full);
  const size = scaleRegion(request, region, limits);
  if (angle % 90 !== 0 && !keepsRatio(size, region)) {
    throw invalid('rotation must be a multiple of 90 for a size that distorts the region.');
  }
  const output = turned(size, angle);
  if (!fits(output, limits)) throw tooLarge(limits);
  const { left, top, width, height } = region;
  const query = new NativeQuery();
  query.set('size', 'dpr', 1);
  query.set('size', 'fit', 'fill');
  query.set('format', 'fmt', format);
  query.set('size', 'h', output.height);
  query.set('size', 'w', output.width);
  // IIIF images are still.
  if (format === 'gif' || format === 'webp') query.set('format', 'animated', false);
  if (width !== full.width || height !== full.height) {
    query.set('region', 'crop', `${left},${top},${width},${height}`);
  }
  const isEnlarged = size.width > width || size.height > height;
  if (isEnlarged || angle % 90 !== 0) query.set('size', 'enlarge', true);
  if (request.isMirrored) query.set('rotation', 'flop', true);
  if (operation !== null) query.set('quality', ...operation);
  if (angle !== 0) query.set('rotation', 'rotate', angle);
  return query;
}

interface Area extends Size {
  readonly left: number;
  readonly top: number;
}

/** Returns the region in whole pixels, cut at the edges of the source. */
function cutRegion(text: string, full: Size): Area {
  if (text === 'full') return { left: 0, top: 0, ...full };
  if (text === 'square') {
    const side = Math.min(full.width, full.height);
    const middle = (length: number) => Math.floor((length - side) / 2);
    return { left: middle(full.width), top: middle(full.height), width: side, height: side };
  }
  const isPercent = text.startsWith('pct:');
  const pixels = (length: number, value: number) =>
    isPercent ? Math.round((length * value) / 100) : value;
  const [x = 0, y = 0, w = 0, h = 0] = text.replace('pct:', '').split(',').map(Number);
  const [left, top] = [pixels(full.width, x), pixels(full.height, y)];
  const width = Math.min(pixels(full.width, w), full.width - left);
  const height = Math.min(pixels(full.height, h), full.height - top);
  if (width > 0 && height > 0) return { left, top, width, height };
  throw invalid(`region is empty, or outside the image of ${full.width} x ${full.height}.`);
}

/** Returns the requested size of a region. @throws UrlError parameter_invalid */
function scaleRegion({ size, mayEnlarge }: ImageRequest, region: Size, limits: Limits): Size {
  const limit = limitScale(region, limits);
  if (size === 'max') return scaled(region, mayEnlarge ? limit : Math.min(1, limit), limits);
  const { width, height } = readSize(size, region, limits);
  if (width < 1 || height < 1) throw invalid('size is less than a pixel.');
  if (!mayEnlarge && (width > region.width || height > region.height)) {
    const own = `${region.width} x ${region.height}`;
    throw invalid(`size is larger than the region of ${own}: put ^ before it to scale up.`);
  }
  if (!fits({ width, height }, limits)) throw tooLarge(limits);
  return { width, height };
}

function readSize(text: string, region: Size, limits: Limits): Size {
  if (text === 'full') return region;
  if (text.startsWith('pct:')) {
    const factor = Number(text.slice(4)) / 100;
    return {
      width: Math.round(region.width * factor),
      height: Math.round(region.height * factor),
    };
  }
  const [w = '', h = ''] = text.replace('!', '').split(',');
  if (text.startsWith('!')) {
    const scale = Math.min(Number(w) / region.width, Number(h) / region.height);
    if (scale === 0) return { width: 0, height: 0 };
    return scaled(region, Math.min(scale, limitScale(region, limits)), limits);
  }
  return {
    width: w === '' ? following(Number(h), region.width, region.height) : Number(w),
    height: h === '' ? following(Number(w), region.height, region.width) : Number(h),
  };
}

/** The side that follows from the other, at least a pixel unless the other is 0. */
const following = (given: number, own: number, other: number): number =>
  given === 0 ? 0 : Math.max(1, Math.round((own * given) / other));

/** The largest scale within the limits. */
const limitScale = ({ width, height }: Size, { maxSide, maxArea }: Limits): number =>
  Math.min(maxSide / width, maxSide / height, Math.sqrt(maxArea / (width * height)));

/** A size that keeps the aspect ratio, rounded down if a limit decides, except for errors of the division. */
function scaled({ width, height }: Size, scale: number, limits: Limits): Size {
  const isLimit = scale === limitScale({ width, height }, limits);
  const round = (length: number) => (isLimit ? Math.floor(length + 1e-6) : Math.round(length));
  return { width: Math.max(1, round(width * scale)), height: Math.max(1, round(height * scale)) };
}

const fits = ({ width, height }: Size, { maxSide, maxArea }: Limits): boolean =>
  Math.max(width, height) <= maxSide && width * height <= maxArea;

const tooLarge = ({ maxSide, maxArea }: Limits) =>
  invalid(`The size exceeds ${maxSide} pixels per side, or ${maxArea} pixels in all.`);

/** Whether a size keeps the region's aspect ratio, as far as whole pixels allow. */
const keepsRatio = ({ width, height }: Size, region: Size): boolean =>
  height === following(width, region.height, region.width) ||
  width === following(height, region.width, region.height);

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

/** URLs of the IIIF Image API 3.0 and 2.1. */
export const iiif: UrlDialect = {
  title: 'IIIF Image API',
  form: /\/[^/?#]+\/[^/?#]+\/!?[\d.]+\/(?:default|color|gray|bitonal|native)(?:\.\w+)?$|\/info\.json$/,
  translate,
};
