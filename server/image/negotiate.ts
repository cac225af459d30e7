import { LRUCache } from 'lru-cache';
import type { OutputFormat } from '../../pool/variant.ts';
import { maxAccept } from '../http/accept.ts';

/** The request headers that negotiation reads; '' for one that was not sent. */
export interface NegotiationHeaders {
  readonly accept: string;
  readonly 'sec-ch-dpr': string;
  readonly dpr: string;
  readonly 'sec-ch-width': string;
  readonly width: string;
  readonly 'sec-ch-viewport-width': string;
  readonly 'viewport-width': string;
}

/** Formats that `auto` may choose; among equal weights the first one wins. */
const negotiable: ReadonlyArray<readonly [type: string, format: OutputFormat]> = [
  ['image/avif', 'avif'],
  ['image/webp', 'webp'],
];

/** RFC 9110, 12.4.2: 0 to 1 with at most three decimals. */
const qvalue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** What an Accept header says about the formats that not every client shows. */
export interface Accepted {
  /** The formats that it names, the highest weight first. */
  readonly formats: readonly OutputFormat[];
  /** WebP, when it has the weight 0. AVIF needs no refusal: a client has to name it. */
  readonly refused: readonly OutputFormat[];
}

/**
 * Reads an Accept header (RFC 9110, 12.5.1). Wildcards do not count: browsers send them whatever they
 * can show. A malformed weight counts as 0.
 */
export function readAccept(accept: string): Accepted {
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q\s*(?:=|$)/.test(parameter))?.slice(2) ?? '1';
    weights.set(type, qvalue.test(weight) ? Number(weight) : 0);
  }
  const weightOf = (type: string): number => weights.get(type) ?? 0;
  const formats = negotiable
    .filter(([type]) => weightOf(type) > 0)
    .sort(([a], [b]) => weightOf(b) - weightOf(a))
    .map(([, format]) => format);
  return { formats, refused: weights.get('image/webp') === 0 ? ['webp'] : [] };
}

/** The size that client hints ask for. */
export interface Hints {
  /** Device pixel ratio, 1 to 3; null without a hint. */
  readonly dpr: number | null;
  /** Width at which the client shows the image, in device pixels, on the ladder; null without a hint. */
  readonly width: number | null;
  /** Viewport width in CSS pixels; null without a hint. */
  readonly viewport: number | null;
}

/**
 * Hinted values are rounded up to these steps, because every kind of device sends other hints and each
 * value would be a cache entry. Steps of about a fifth make an image at most that much too wide.
 */
const ladder = [
  16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 480, 560, 640, 750, 828, 960, 1080, 1280, 1440,
  1600, 1920, 2048, 2560, 3072, 3840, 5120, 7680, 10_000,
];
const dprLadder = [1, 1.5, 2, 2.5, 3];

function snapUp(steps: readonly number[], value: number): number {
  return steps.find((step) => step >= value) ?? (steps.at(-1) as number);
}

/** The next step of the ladder for a width in device pixels. */
export const snapWidth = (width: number): number => snapUp(ladder, width);

/** A positive RFC 8941 integer or decimal; any other value counts as no hint. */
function hintedNumber(...texts: string[]): number | null {
  const text = texts.find((one) => one !== '') ?? '';
  const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : null;
}

/** Reads client hints; the `Sec-CH-` names take precedence over the older ones. */
export function readHints(headers: NegotiationHeaders): Hints {
  const dpr = hintedNumber(headers['sec-ch-dpr'], headers.dpr);
  const width = hintedNumber(headers['sec-ch-width'], headers.width);
  return {
    dpr: dpr === null ? null : snapUp(dprLadder, dpr),
    width: width === null ? null : snapWidth(width),
    viewport: hintedNumber(headers['sec-ch-viewport-width'], headers['viewport-width']),
  };
}

/** What a request's headers ask for. */
export interface Negotiated {
  readonly accepted: Accepted;
  readonly hints: Hints;
  /** The same text for all headers that ask for the same, which are many: no two browsers agree. */
  readonly form: string;
}

interface ReadAccept {
  readonly accepted: Accepted;
  readonly form: string;
}

/** Clients send few different Accept headers. */
const acceptsRead = new LRUCache<string, ReadAccept>({ max: 512 });

const noHints: Hints = { dpr: null, width: null, viewport: null };

export function negotiate(headers: NegotiationHeaders): Negotiated {
  const { accepted, form } = acceptOnce(headers.accept);
  const hinted =
    headers['sec-ch-dpr'] +
    headers.dpr +
    headers['sec-ch-width'] +
    headers.width +
    headers['sec-ch-viewport-width'] +
    headers['viewport-width'];
  if (hinted === '') return { accepted, hints: noHints, form };
  const hints = readHints(headers);
  const { dpr, width, viewport } = hints;
  const hintsForm = `${dpr ?? ''},${width ?? ''},${viewport ?? ''}`;
  return { accepted, hints, form: hintsForm === ',,' ? form : `${form},${hintsForm}` };
}

/** The formats that stand in the first `maxAccept` characters; what follows them is ignored. */
function acceptOnce(sent: string): ReadAccept {
  const accept =
    sent.length <= maxAccept ? sent : sent.slice(0, sent.lastIndexOf(',', maxAccept) + 1);
  const known = acceptsRead.get(accept);
  if (known !== undefined) return known;
  const accepted = readAccept(accept);
  const form = `${accepted.formats.join()}-${accepted.refused.join()}`;
  const read = { accepted, form };
  acceptsRead.set(accept, read);
  return read;
}
