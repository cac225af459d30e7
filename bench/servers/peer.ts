import { InvalidArgumentError } from 'commander';
import { encoderOptions } from './encoder-settings.ts';
import {
  type DefaultServer,
  encodedSource,
  type ImageServer,
  type PlainRequest,
  type Server,
} from './server.ts';

/** A running server, started by others. */
export interface Peer {
  readonly name: string;
  /** Of its URLs. */
  readonly template: string;
  /** Of its first process, or null. */
  readonly pid: number | null;
}

/** The placeholders of a template. */
export const urlPlaceholders = {
  url: 'the source’s URL, percent-encoded',
  width: 'the width of the image in pixels',
  format: 'jpeg, webp or avif',
  quality: 'the quality on the encoder’s own scale',
} as const;

const required = ['url', 'width', 'format'] as const;

/** Parses `name=http://…`, for the command line. */
export function parsePeer(text: string): Peer {
  const equals = text.indexOf('=');
  const [name, template] = [text.slice(0, equals), text.slice(equals + 1)];
  if (equals < 1 || !URL.canParse(template) || !/^http:/.test(template)) {
    throw new InvalidArgumentError('It must be name=http://… with words in braces.');
  }
  for (const [found, word = ''] of template.matchAll(/\{(\w*)\}/g)) {
    if (!Object.hasOwn(urlPlaceholders, word)) throw new InvalidArgumentError(`unknown ${found}`);
  }
  const plain = withoutQuality(template);
  for (const word of required) {
    if (!template.includes(`{${word}}`)) throw new InvalidArgumentError(`missing {${word}}`);
    if (!plain.includes(`{${word}}`) || plain.includes('{quality}')) {
      throw new InvalidArgumentError('{quality} cannot be left out without another word.');
    }
  }
  return { name, template, pid: null };
}

/**
 * Removes the path segment or the query parameter with `{quality}`. If it has other words in braces too,
 * removes only the part between commas or colons, as in `w_{width},q_{quality}` and
 * `filters:quality({quality}):format({format})`.
 */
function withoutQuality(template: string): string {
  const [path = '', query = ''] = template.split(/\?(.*)/);
  const rest = withoutPart(query, '&');
  return withoutPart(path, '/') + (rest === '' ? '' : `?${rest}`);
}

function withoutPart(text: string, separator: string): string {
  const parts = text.split(separator).flatMap((part) => {
    if (!part.includes('{quality}')) return part;
    if (!/\{(?!quality\})\w+\}/.test(part)) return [];
    if (separator === ',' || separator === ':') return part;
    return withoutPart(part, part.includes(',') ? ',' : ':');
  });
  return parts.join(separator);
}

const serverOf = ({ name, template, pid }: Peer): Server => ({
  name,
  pid,
  healthyMs: null,
  url: new URL(template).origin,
  close: async () => {},
});

const fillTemplate = (template: string, request: PlainRequest, quality: number | null): string =>
  template
    .replaceAll('{url}', encodedSource(request.source))
    .replaceAll('{width}', String(request.width))
    .replaceAll('{format}', request.format)
    .replaceAll('{quality}', String(quality));

/** @param pixels of its outputs, on which the service's encoder settings depend */
export const peerServer = (peer: Peer, pixels: number): ImageServer => ({
  ...serverOf(peer),
  imageUrl: ({ quality, ...request }) =>
    fillTemplate(peer.template, request, encoderOptions(request.format, quality, pixels).quality),
});

/** The peer with its own settings. */
export const defaultPeer = (peer: Peer): DefaultServer => ({
  ...serverOf(peer),
  acceptsQuality: peer.template.includes('{quality}'),
  imageUrl: (request, quality) =>
    fillTemplate(
      quality === null ? withoutQuality(peer.template) : peer.template,
      request,
      quality,
    ),
});
