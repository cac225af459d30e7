import { InvalidArgumentError } from 'commander';
import { encoderOptions } from './encoder-settings.ts';
import {
  type DefaultServer,
  encodedSource,
  type ImageServer,
  type PlainRequest,
  type Server,
} from './server.ts';
import { withoutQuality } from './without-quality.ts';

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
  const plain = withoutQuality(template);
  const lost = required.find((word) => !plain.includes(`{${word}}`));
  if (lost !== undefined || plain.includes('{quality}')) {
    throw new InvalidArgumentError('{quality} cannot be left out without another word.');
  }
  return { name, template, pid: null };
}

const serverOf = ({ name, template, pid }: Peer): Server => ({
  name,
  pid,
  healthyMs: null,
  url: new URL(template).origin,
  close: async () => {},
});

function filled(template: string, request: PlainRequest, quality: number | null): string {
  const words: Record<keyof typeof templateWords, string> = {
    url: encodedSource(request.source),
    width: String(request.width),
    format: request.format,
    quality: String(quality),
  };
  return Object.entries(words).reduce(
    (text, [word, value]) => text.replaceAll(`{${word}}`, value),
    template,
  );
}

/** @param pixels of its outputs, on which the service's encoder settings depend */
export const peerServer = (peer: Peer, pixels: number): ImageServer => ({
  ...serverOf(peer),
  imageUrl: ({ quality, ...request }) =>
    filled(peer.template, request, encoderOptions(request.format, quality, pixels).quality),
});

/** The peer with its own settings. */
export const defaultPeer = (peer: Peer): DefaultServer => ({
  ...serverOf(peer),
  varies: peer.template.includes('{quality}'),
  imageUrl: (request, quality) =>
    filled(quality === null ? withoutQuality(peer.template) : peer.template, request, quality),
});
