import { InvalidArgumentError } from 'commander';
import { encoderOptions } from './encoder-settings.ts';
import { encodedSource, type ImageServer } from './server.ts';

/** A running server, started by others. */
export interface Peer {
  readonly name: string;
  /** Of its URLs. */
  readonly template: string;
}

/** The placeholders of a template. */
export const urlPlaceholders = {
  url: 'the source’s URL, percent-encoded',
  width: 'the width of the image in pixels',
  height: 'the height of the box in which it must fit, or 0',
  format: 'jpeg, webp or avif, and png with --photographs',
  quality: 'the quality on the encoder’s own scale',
} as const;

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
  for (const word of ['url', 'width', 'format']) {
    if (!template.includes(`{${word}}`)) throw new InvalidArgumentError(`missing {${word}}`);
  }
  return { name, template };
}

/** @param pid of its first process, or null */
export const peerServer = ({ name, template }: Peer, pid: number | null): ImageServer => ({
  name,
  pid,
  healthyMs: null,
  url: new URL(template).origin,
  close: async () => {},
  imageUrl: ({ source, width, height = 0, format, pixels, quality }) =>
    template
      .replaceAll('{url}', encodedSource(source))
      .replaceAll('{width}', String(width))
      .replaceAll('{height}', String(height))
      .replaceAll('{format}', format)
      .replaceAll('{quality}', String(encoderOptions(format, quality, pixels).quality)),
});
