import { LRUCache } from 'lru-cache';
import { defaultAutoFormats, type NegotiableFormat } from '../../contract/image-terms.ts';
import { getEncoding } from '../../pool/rendering/encode/encodings.ts';
import type { ProjectSettings } from '../../store/projects.ts';
import { maxAcceptLength } from '../http/accept.ts';
import type { Options } from './address.ts';
import { parameterNames, parameters, type VaryingHeader, varyingHeaders } from './parameters.ts';

/** RFC 9110, 12.4.2: 0 to 1 with at most three decimals. */
const qvalue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * Returns the formats that an Accept header (RFC 9110, 12.5.1) names with a weight above 0, the
 * highest weight first. Ignores wildcards: browsers send them regardless of the formats that they
 * support. Reads a malformed weight as 0.
 *
 * @param order the formats of `auto`; the first of equal weights wins
 */
export function readAccept(
  accept: string,
  order: readonly NegotiableFormat[] = defaultAutoFormats,
): readonly NegotiableFormat[] {
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q\s*(?:=|$)/.test(parameter))?.slice(2) ?? '1';
    weights.set(type, qvalue.test(weight) ? Number(weight) : 0);
  }
  const findWeight = (format: NegotiableFormat): number =>
    weights.get(getEncoding(format).contentType) ?? 0;
  return order
    .filter((format) => findWeight(format) > 0)
    .sort((a, b) => findWeight(b) - findWeight(a));
}

/** Client hints, or null for each unsent hint. */
export interface Hints {
  /** Device pixel ratio, 1 to 3. */
  readonly dpr: number | null;
  /** Layout width of the image on the client, in device pixels, rounded up to a step. */
  readonly width: number | null;
  /** Viewport width in CSS pixels. */
  readonly viewport: number | null;
}

/**
 * Steps for rounding hinted widths up: hints differ between devices, and each value would be a
 * cache entry. Most steps are 20 to 30 % apart.
 */
export const widthSteps: readonly number[] = [
  16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 480, 560, 640, 750, 828, 960, 1080, 1280, 1440,
  1600, 1920, 2048, 2560, 3072, 3840, 5120, 7680, 10_000,
];
const ratios = [1, 1.5, 2, 2.5, 3];

function roundUp(steps: readonly number[], value: number): number {
  return steps.find((step) => step >= value) ?? (steps.at(-1) as number);
}

/** The next step for a width in device pixels. */
export const roundUpWidth = (width: number): number => roundUp(widthSteps, width);

/** Returns a positive RFC 8941 integer or decimal, or null for other values. */
function readHint(text: string): number | null {
  const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : null;
}

/** The formats and size requested by headers. */
export interface NegotiatedHeaders {
  /** In order of preference. */
  readonly accepted: readonly NegotiableFormat[];
  readonly hints: Hints;
  /** Equal for all headers with the same result: browsers send different headers. */
  readonly normalized: string;
}

export const noHints: Hints = { dpr: null, width: null, viewport: null };

/**
 * Reads Accept and client hints. `Sec-CH-` names take precedence over the older names.
 *
 * @param header returns a header's value, or ''
 */
export type Negotiate = (header: (name: string) => string) => NegotiatedHeaders;

/** @param order the formats of `auto`, best first */
export function negotiation(order: readonly NegotiableFormat[] = defaultAutoFormats): Negotiate {
  // Clients send few distinct Accept headers.
  const cache = new LRUCache<string, Pick<NegotiatedHeaders, 'accepted' | 'normalized'>>({
    max: 512,
  });

  /** Reads the media ranges within the first `maxAcceptLength` characters. */
  function readCached(sent: string): Pick<NegotiatedHeaders, 'accepted' | 'normalized'> {
    const accept =
      sent.length <= maxAcceptLength
        ? sent
        : sent.slice(0, sent.lastIndexOf(',', maxAcceptLength) + 1);
    const known = cache.get(accept);
    if (known !== undefined) return known;
    const accepted = readAccept(accept, order);
    const read = { accepted, normalized: accepted.join() };
    cache.set(accept, read);
    return read;
  }

  return (header) => {
    const { accepted, normalized } = readCached(header('accept'));
    const dprText = header('sec-ch-dpr') || header('dpr');
    const widthText = header('sec-ch-width') || header('width');
    const viewportText = header('sec-ch-viewport-width') || header('viewport-width');
    if (dprText + widthText + viewportText === '') return { accepted, hints: noHints, normalized };
    const dpr = readHint(dprText);
    const width = readHint(widthText);
    const hints = {
      dpr: dpr === null ? null : roundUp(ratios, dpr),
      width: width === null ? null : roundUpWidth(width),
      viewport: readHint(viewportText),
    };
    const hintsText = `${hints.dpr ?? ''},${hints.width ?? ''},${hints.viewport ?? ''}`;
    return {
      accepted,
      hints,
      normalized: hintsText === ',,' ? normalized : `${normalized},${hintsText}`,
    };
  };
}

/** All request headers that can change an image, as the specification's `Vary`. */
export const fullVary = varyingHeaders.join(', ');

/**
 * Returns the request headers that can change the image of these options, as the parameters' rows
 * name them; '' if every request gets the same image.
 *
 * @param options including the preset's
 * @param usesHints whether client hints set the size
 */
export function neededVary(
  options: Options,
  { autoFormat }: Pick<ProjectSettings, 'autoFormat'>,
  usesHints: boolean,
): string {
  const needed = new Set<VaryingHeader>();
  for (const name of parameterNames) {
    for (const header of parameters[name].varies({ ...options, autoFormat })) needed.add(header);
  }
  const isRead = (header: VaryingHeader) => usesHints || header === 'Accept';
  return varyingHeaders.filter((header) => needed.has(header) && isRead(header)).join(', ');
}
