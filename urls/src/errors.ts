export type UrlErrorCode =
  | 'parameter_invalid'
  | 'source_invalid'
  | 'source_missing'
  | 'source_not_found';

/** A URL without a meaning or equivalent. The message is a sentence for the URL's author. */
export class UrlError extends Error {
  readonly code: UrlErrorCode;

  constructor(code: UrlErrorCode, message: string) {
    super(message);
    this.name = 'UrlError';
    this.code = code;
  }
}

/** @param why the rest of a sentence about the option */
export const optionInvalid = (option: string, why: string): UrlError =>
  new UrlError('parameter_invalid', `${option.slice(0, 40).toWellFormed()} ${why}.`);

export const noEquivalent = (option: string): UrlError =>
  optionInvalid(option, 'has no equivalent here');

export const sourceInvalid = (message: string): UrlError => new UrlError('source_invalid', message);

export const sourceMissing = (message: string): UrlError => new UrlError('source_missing', message);
