import { lookUp, readExpiry, readInteger, readNumber } from './read.ts';
import {
  type NativeQuery,
  noEquivalent,
  optionInvalid,
  type Source,
  type UrlHost,
} from './translation.ts';

/**
 * Sets the native parameters of an option. A language is a table of such rows by option name, and
 * functions for the options that depend on each other.
 * @throws UrlError parameter_invalid naming the option
 */
export type Row = (native: NativeQuery, value: string, option: string) => void;

export const integer =
  (name: string, minimum: number, maximum?: number): Row =>
  (native, value, option) =>
    native.set(option, name, readInteger(option, value, minimum, maximum));

/** A page or frame, which other services count from 1. */
export const page: Row = (native, value, option) =>
  native.set(option, 'page', readInteger(option, value, 1, 100_000) - 1);

/** A time in Unix seconds. */
export const expiry: Row = (native, value, option) =>
  native.set(option, 'exp', readExpiry(option, value));

/** @param words the parameter's values by the option's words. Null sets nothing. */
export const choice =
  (name: string, words: Readonly<Record<string, string | null>>): Row =>
  (native, value, option) => {
    const word = lookUp(words, value);
    if (word === undefined) {
      throw optionInvalid(option, `must be one of ${Object.keys(words).join(', ')}`);
    }
    if (word !== null) native.set(option, name, word);
  };

/** A filter without a value. */
export const flag =
  (name: string): Row =>
  (native, _, option) =>
    native.set(option, name, true);

/** An option without an effect here. */
export const noEffect: Row = () => {};

/**
 * An option that has an equivalent only if it has no effect.
 * @param nearest what comes closest to other values
 */
export const onlyOr =
  (nearest: string, ...harmless: readonly string[]): Row =>
  (_, value, option) => {
    if (!harmless.includes(value)) throw noEquivalent(option, nearest);
  };

export const only = (...harmless: readonly string[]): Row => onlyOr('', ...harmless);

/** The rows of options that only the nearest alternative tells apart. */
export const withNearest = (
  nearest: Readonly<Record<string, string>>,
  ...harmless: readonly string[]
): Readonly<Record<string, Row>> =>
  Object.fromEntries(
    Object.entries(nearest).map(([name, text]) => [name, onlyOr(text, ...harmless)]),
  );

/** A number in another scale. @param neutral the number without an effect, or null */
export const scaled =
  (
    name: string,
    minimum: number,
    maximum: number,
    convert: (value: number) => number,
    neutral: number | null = 0,
  ): Row =>
  (native, text, option) => {
    const value = readNumber(option, text, minimum, maximum);
    if (value !== neutral) native.set(option, name, convert(value));
  };

/** Returns a function that keeps numbers within limits. */
export const within =
  (minimum: number, maximum: number, convert = (value: number) => value) =>
  (value: number): number =>
    Math.max(minimum, Math.min(maximum, convert(value)));

/** A difference in percent, for a factor. */
export const percent = (name: string): Row => scaled(name, -100, 100, (value) => 1 + value / 100);

/** A factor of the contrast, which above 2 is 2 here. */
export const contrast = scaled(
  'contrast',
  0,
  100,
  within(-100, 100, (factor) => (factor - 1) * 100),
  1,
);

/** Mirrors the image. */
export const flip: Row = (native, axes, option) => {
  if (!['h', 'v', 'hv'].includes(axes)) throw optionInvalid(option, 'must be h, v or hv');
  if (axes.includes('h')) native.set(option, 'flop', true);
  if (axes.includes('v')) native.set(option, 'flip', true);
};

/** The fields of an overlay; null and undefined are its defaults. */
type OverlayFields = Readonly<Record<string, string | number | null | undefined>>;

/** Draws another image over the image, after those that the URL already draws. */
export function addOverlay(
  native: NativeQuery,
  option: string,
  source: Source,
  { base }: UrlHost,
  fields: OverlayFields,
): void {
  const name = ['overlay', 'overlay2', 'overlay3', 'overlay4'].find((free) => !native.has(free));
  if (name === undefined) throw optionInvalid(option, 'is given more than four times');
  const url = 'url' in source ? source.url : new URL(source.path.replace(/^\/+/, ''), base).href;
  native.set(option, name, url);
  for (const [end, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) native.set(option, `${name}.${end}`, value);
  }
}

/** Returns a share as an overlay's length. */
export const toPercent = (share: number): string => `${Number((share * 100).toFixed(3))}%`;

/** A factor, of which 0 leaves no colour. */
export const saturation: Row = (native, value, option) => {
  const factor = readNumber(option, value, 0, 10);
  if (factor === 0) native.set(option, 'grayscale', true);
  else native.set(option, 'saturation', factor);
};
