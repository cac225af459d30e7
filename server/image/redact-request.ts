import {
  cutText,
  redactedMark,
  redactSource,
  redactText,
  withoutTokens,
} from '../../contract/redact.ts';
import { hasTooManyParameters, redactForeignPath } from '../../urls/src/index.ts';
import type { RedactRequest } from '../telemetry/image-telemetry.ts';
import { canonicalName, isImagePath } from './address.ts';

const maxUrlLength = 300;
/** The rest would not be shown. */
const maxPathLength = 600;
const maxValueLength = 80;
const maxMessageLength = 200;

/** Returns a path without the parts that might be secrets in its language. */
type RedactPath = (path: string) => string;

/** Returns a failed request without secrets, which depend on the language of the host's URLs. */
export const redactRequest: RedactRequest = ({ path, query, source, host, error }) => {
  const shown = source instanceof URL ? redactSource(source) : redactText(source?.href ?? '');
  const redactPath: RedactPath = (text) => redactForeignPath(text, host?.urls ?? 'native');
  const url = redactUrl(path, query, shown, redactPath);
  // Messages on another service's URL begin with its option, which might be hidden in the path.
  const [option = ''] = error.message.split(' ', 1);
  const isHidden = path.includes(option) && !url.includes(option);
  const named = isHidden ? redactPath(option) : option;
  const message = redactMessage(named + error.message.slice(option.length));
  return { source: shown, url, message };
};

/** Returns an error's message without names from the URL, which can be secrets. */
function redactMessage(told: string): string {
  return cutText(withoutTokens(told.replaceAll(/`[^`]*`/g, redactedMark)), maxMessageLength);
}

/**
 * Returns an image's parameters by canonical name, leaving out signatures, layer texts and unknown
 * parameters.
 */
export function redactParameters(parameters: Iterable<readonly [string, string]>): string {
  const shown: string[] = [];
  for (const [spelling, value] of parameters) {
    const name = canonicalName(spelling);
    if (name === undefined) continue;
    const isSource = name === 'fallback' || name === 'overlay';
    const text = isSource ? redactText(value) : withoutTokens(value.toWellFormed());
    shown.push(`${name}=${cutText(text, maxValueLength)}`);
  }
  return cutText(shown.sort().join('&'), maxUrlLength);
}

/**
 * Returns an image URL's path and parameters.
 *
 * @param source without secrets, or '' if the URL is invalid
 */
export function redactUrl(
  path: string,
  query: string,
  source: string,
  redactPath: RedactPath = (text) => text,
): string {
  const parameters = new URLSearchParams(hasTooManyParameters(query) ? '' : query);
  const unread = redactText(path.replace(/^\/img\/?/, '') || (parameters.get('url') ?? ''));
  const shown = isImagePath(path)
    ? `/img/${source === '' ? unread : source}`
    : // Encoded secrets appear when the text is decoded.
      redactPath(redactText(redactPath(path.slice(0, maxPathLength))));
  const text = redactParameters(parameters);
  const separator = shown.includes('?') ? ' ' : '?';
  return text === '' ? shown : `${shown}${separator}${text}`;
}
