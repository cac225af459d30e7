import { ServiceError } from '../../../contract/errors.ts';
import { percentDecode } from '../../../contract/url-text.ts';
import { type ParameterName, parameters } from '../parameters.ts';
import type { Site } from '../site.ts';
import { toText } from '../values.ts';
import { expiryFault } from './signature.ts';

/** Returns the error for an option of another service. @param why the rest of a sentence about it */
export const optionInvalid = (option: string, why: string): ServiceError =>
  new ServiceError('parameter_invalid', `${option.slice(0, 40).toWellFormed()} ${why}.`);

export const noEquivalent = (option: string): ServiceError =>
  optionInvalid(option, 'has no equivalent here');

/** @throws ServiceError parameter_invalid naming the option */
export function decodeOption(option: string, text: string): string {
  const decoded = percentDecode(text);
  if (decoded === null) throw optionInvalid(option, 'is not encoded properly');
  return decoded;
}

const decimal = /^-?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})$/;

/**
 * Reads a number in decimal notation.
 * @throws ServiceError parameter_invalid naming the option
 */
export function readNumber(
  option: string,
  text: string,
  minimum: number,
  maximum = 999_999_999_999,
): number {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value + 0;
  throw optionInvalid(option, `must be a number from ${minimum} to ${maximum}`);
}

/** @throws ServiceError parameter_invalid naming the option */
export function readInteger(option: string, text: string, minimum: number, maximum?: number) {
  const value = readNumber(option, text, minimum, maximum);
  if (Number.isInteger(value)) return value;
  throw optionInvalid(option, 'must be a whole number');
}

/**
 * Reads an expiry in Unix seconds.
 * @throws ServiceError parameter_invalid naming the option
 */
export function readExpiry(option: string, text: string): string {
  const fault = expiryFault(option, text);
  if (fault !== null) throw new ServiceError('parameter_invalid', fault);
  return text;
}

/**
 * Reads `W:H`. Returns the quotient if a side is below 1.
 * @throws ServiceError parameter_invalid naming the option
 */
export function readRatio(option: string, text: string, rule = 'must be W:H'): string | number {
  const sides = text.split(':', 3);
  if (sides.length !== 2) throw optionInvalid(option, rule);
  const [width = 1, height = 1] = sides.map((side) => readNumber(option, side, 0.0001, 10_000));
  return width >= 1 && height >= 1 ? `${width}:${height}` : width / height;
}

/**
 * Checks an option for the metadata of the source, which the project decides here.
 * @param strips whether the option removes the metadata
 * @throws ServiceError parameter_invalid naming the option
 */
export function requireMetadata(option: string, { project }: Site, strips: boolean): void {
  if (project.stripMetadata === strips) return;
  throw optionInvalid(option, "differs from the project's stripMetadata");
}

/** The parameters of this service that mean the same as the options of a URL. */
export class Meaning {
  readonly parameters = new Map<string, string>();

  /**
   * Adds a parameter.
   * @param option as the URL names it
   * @throws ServiceError parameter_invalid naming the option if the parameter does not accept the value
   */
  set(option: string, name: ParameterName, value: string | number | boolean): void {
    const text = toText(value);
    const { parse, accepts } = parameters[name];
    if (parse(text) === undefined) throw optionInvalid(option, `must be ${accepts}`);
    this.parameters.set(name, text);
  }

  /** Mirrors the image. @throws ServiceError parameter_invalid */
  setFlip(option: string, axes: string): void {
    if (!['h', 'v', 'hv'].includes(axes)) throw optionInvalid(option, 'must be h, v or hv');
    if (axes.includes('h')) this.set(option, 'flop', true);
    if (axes.includes('v')) this.set(option, 'flip', true);
  }
}
