import { InvalidArgumentError } from 'commander';
import { encoderOptions } from './encoder-settings.ts';
import { encodedSource, type ImageServer } from './server.ts';

/** A running server that somebody else has started, known by the template of its URLs. */
export interface Peer {
  readonly name: string;
  readonly template: string;
  /** Its first process, where it is known. */
  readonly pid: number | null;
}

/** What a template's words in braces stand for. */
export const templateWords = {
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
    throw new InvalidArgumentError('It is name=http://… with words in braces.');
  }
  const unknown = [...template.matchAll(/\{(\w*)\}/g)].find(
    ([, word = '']) => !Object.hasOwn(templateWords, word),
  );
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no ${unknown[0]}.`);
  const missing = required.find((word) => !template.includes(`{${word}}`));
  if (missing !== undefined) throw new InvalidArgumentError(`It lacks {${missing}}.`);
  return { name, template, pid: null };
}

/** @param pixels of its outputs, on which the service's encoder settings depend */
export function peerServer({ name, template, pid }: Peer, pixels: number): ImageServer {
  return {
    ...{ name, pid, healthyMs: null },
    url: new URL(template).origin,
    close: async () => {},
    imageUrl({ source, width, format, quality }) {
      const words: Record<keyof typeof templateWords, string> = {
        url: encodedSource(source),
        width: String(width),
        format,
        quality: String(encoderOptions(format, quality, pixels).quality),
      };
      return Object.entries(words).reduce(
        (text, [word, value]) => text.replaceAll(`{${word}}`, value),
        template,
      );
    },
  };
}
