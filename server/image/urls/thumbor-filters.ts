import { Meaning, noEquivalent, optionInvalid, readInteger, readNumber } from './meaning.ts';

/** The centre of a focal area, in source pixels, and its number of pixels. */
export interface FocalArea {
  readonly x: number;
  readonly y: number;
  readonly weight: number;
}

/** Returns a URL's filters if it sets no filter: parameters, and settings of the size. */
const noFilters = () => ({
  meaning: new Meaning(),
  /** Names that thumbor ignores. */
  ignored: [] as string[],
  stretch: false,
  noUpscale: false,
  upscale: false,
  /** Counterclockwise, in degrees. */
  rotation: 0,
  /** The background around an image smaller than its box. */
  fill: null as string | null,
  focal: [] as FocalArea[],
  metadata: null as string | null,
});
export type ThumborFilters = ReturnType<typeof noFilters>;

type Read = (filters: ThumborFilters, args: readonly string[], name: string) => void;

/** A CSS colour, hex digits, or `transparent`. */
const isColour = (text: string): boolean => /^\w+$/.test(text) && !['auto', 'blur'].includes(text);

function setBackground({ meaning }: ThumborFilters, name: string, colour: string): void {
  const before = meaning.parameters.get('bg') ?? colour;
  if (before !== colour) throw optionInvalid(name, 'with two colours has no equivalent here');
  meaning.set(name, 'bg', colour);
}

function readFill(
  filters: ThumborFilters,
  [colour = '', transparent = '']: readonly string[],
): void {
  if (!isColour(colour)) throw optionInvalid('fill', `with ${colour} has no equivalent here`);
  if (filters.rotation % 180 !== 0) throw optionInvalid('fill', 'must precede rotate here');
  setBackground(filters, 'fill', colour);
  if (['true', 'True', '1'].includes(transparent)) filters.meaning.set('fill', 'flatten', true);
  filters.fill = colour;
}

/** Returns the deviation of thumbor's Gaussian kernel, which ends at a radius. */
function deviation(sigma: number, radius: number): number {
  let [sum, weights] = [0, 0];
  for (let at = -radius; at <= radius; at += 1) {
    const weight = Math.exp(-(at ** 2) / (2 * sigma ** 2));
    sum += weight * at ** 2;
    weights += weight;
  }
  return Math.sqrt(sum / weights);
}

function readBlur({ meaning }: ThumborFilters, args: readonly string[]): void {
  const [radius = '', sigma = '0'] = args;
  const pixels = readInteger('blur', radius, 1, 1_000);
  const given = readNumber('blur', sigma, 0, 1_000) || pixels;
  meaning.set('blur', 'blur', deviation(given, Math.min(pixels, 150)).toFixed(4));
}

const formats = ['png', 'jpeg', 'jpg', 'gif', 'webp', 'avif'];

/** An adjustment with no equivalent unless it is 0. */
const onlyZero: Read = (_, [value = ''], name) => {
  if (Number(value) !== 0) throw noEquivalent(name);
};
const never: Read = (_filters, _args, name) => {
  throw noEquivalent(name);
};

const reads: Readonly<Record<string, Read>> = {
  quality: ({ meaning }, [value = ''], name) => {
    meaning.set(name, 'q', readInteger(name, value, 1, 100));
  },
  max_bytes: ({ meaning }, [value = ''], name) => {
    meaning.set(name, 'maxbytes', readInteger(name, value, 1));
  },
  format: ({ meaning, ignored }, [value = ''], name) => {
    const format = value.toLowerCase();
    if (formats.includes(format)) meaning.set(name, 'fmt', format === 'jpg' ? 'jpeg' : format);
    else if (/^hei[cf]$/.test(format)) throw optionInvalid(name, `cannot be ${format}`);
    else ignored.push(name);
  },
  grayscale: ({ meaning }, _, name) => meaning.set(name, 'grayscale', true),
  saturation: ({ meaning }, [value = ''], name) => {
    if (Number(value) === 0) meaning.set(name, 'grayscale', true);
    else meaning.set(name, 'saturation', readNumber(name, value, 0, 10));
  },
  blur: readBlur,
  background_color: (filters, [colour = ''], name) => {
    if (!isColour(colour)) throw noEquivalent(name);
    setBackground(filters, name, colour);
    filters.meaning.set(name, 'flatten', true);
  },
  fill: readFill,
  upscale: (filters, _, name) => {
    if (filters.fill !== null) throw optionInvalid(name, 'must precede fill here');
    filters.upscale = true;
  },
  no_upscale: (filters) => {
    filters.noUpscale = true;
  },
  stretch: (filters) => {
    filters.stretch = true;
  },
  rotate: (filters, [value = ''], name) => {
    const angle = readInteger(name, value, -36_000, 36_000);
    if (angle % 90 === 0) filters.rotation = (((filters.rotation + angle) % 360) + 360) % 360;
    else filters.ignored.push(name);
  },
  focal: ({ focal, ignored }, [text = ''], name) => {
    const match = /^(\d{1,6})x(\d{1,6}):(\d{1,6})x(\d{1,6})/.exec(text);
    const [left = 0, top = 0, right = 0, bottom = 0] = match?.slice(1).map(Number) ?? [];
    const [width, height] = [right - left, bottom - top];
    if (width < 0 || height < 0) throw optionInvalid(name, 'must be left x top : right x bottom');
    // thumbor ignores an empty area.
    if (width === 0 || height === 0) ignored.push(name);
    else {
      const [x, y] = [left + Math.floor(width / 2), top + Math.floor(height / 2)];
      focal.push({ x, y, weight: width * height });
    }
  },
  strip_exif: (filters, _, name) => {
    filters.metadata = name;
  },
  strip_icc: (filters, _, name) => {
    filters.metadata = name;
  },
  brightness: onlyZero,
  contrast: onlyZero,
  autojpg: (_, [value = ''], name) => {
    if (!['false', 'False', '0'].includes(value)) throw noEquivalent(name);
  },
  ...Object.fromEntries(
    `colorize convolution cover curve equalize extract_focal frame max_age noise proportion red_eye rgb
    round_corner sharpen text watermark`
      .split(/\s+/)
      .map((name) => [name, never]),
  ),
};

const maxFilters = 30;

/**
 * Reads filters such as `quality(80):format(webp)`.
 * @throws ServiceError parameter_invalid naming the filter
 */
export function readThumborFilters(text: string): ThumborFilters {
  const filters = noFilters();
  if (text === '') return filters;
  const calls = text.replace(/\)$/, '').split('):', maxFilters + 1);
  if (calls.length > maxFilters) throw optionInvalid('filters', `are more than ${maxFilters}`);
  for (const call of calls) {
    const [, name = '', list] = /^([^(]*)(?:\((.*))?$/s.exec(call) ?? [];
    const read = Object.hasOwn(reads, name) ? reads[name] : undefined;
    // thumbor ignores unknown filters.
    if (read === undefined || list === undefined) filters.ignored.push(name.slice(0, 40));
    else
      read(
        filters,
        list.split(',').map((arg) => arg.trim()),
        name,
      );
  }
  return filters;
}
