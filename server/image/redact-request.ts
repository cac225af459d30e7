import {
  cutText,
  redactedMark,
  redactSource,
  redactText,
  withoutTokens,
} from '../../contract/redact.ts';
import { hasTooManyParameters } from '../../urls/src/index.ts';
import type { RedactRequest } from '../telemetry/image-telemetry.ts';
import { canonicalName, isImagePath } from './address.ts';

const maxUrlLength = 300;
const maxValueLength = 80;
const maxMessageLength = 200;

/**
 * Returns a failed request without secrets. The project's hosts might read other services' URLs.
 */
export const redactRequest: RedactRequest = ({ path, query, source, project, error }) => {
  const shown = source instanceof URL ? redactSource(source) : redactText(source?.href ?? '');
  const hosts = Object.values(project?.hosts ?? {});
  const isNative = hosts.every(({ urls = 'native' }) => urls === 'native');
  return {
    source: shown,
    url: redactUrl(path, query, shown, isNative),
    message: redactMessage(error, isNative),
  };
};

type FailedError = Parameters<RedactRequest>[0]['error'];

/** Returns an error's message without names from the URL, which can be secrets. */
function redactMessage({ code, message }: FailedError, isNative: boolean): string {
  // This message quotes an option from another service's URL.
  if (!isNative && code === 'parameter_invalid') return '';
  return cutText(withoutTokens(message.replaceAll(/`[^`]*`/g, redactedMark)), maxMessageLength);
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
    const text = name === 'fallback' ? redactText(value) : withoutTokens(value.toWellFormed());
    shown.push(`${name}=${cutText(text, maxValueLength)}`);
  }
  return cutText(shown.sort().join('&'), maxUrlLength);
}

/**
 * Returns an image URL's path and parameters.
 *
 * @param source without secrets, or '' if the URL is invalid
 * @param isNative false for a path that might contain another service's signature
 */
export function redactUrl(path: string, query: string, source: string, isNative = true): string {
  const parameters = new URLSearchParams(hasTooManyParameters(query) ? '' : query);
  const own = isNative ? redactText(path) : source || redactedMark;
  const unread = redactText(path.replace(/^\/img\/?/, '') || (parameters.get('url') ?? ''));
  const shown = isImagePath(path) ? `/img/${source === '' ? unread : source}` : own;
  const text = redactParameters(parameters);
  const separator = shown.includes('?') ? ' ' : '?';
  return text === '' ? shown : `${shown}${separator}${text}`;
}
