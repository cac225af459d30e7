import { backgroundHeader } from '../../contract/background-token.ts';
import { projectNotFound, ServiceError } from '../../contract/errors.ts';
import type { Engine } from '../../pool/engine.ts';
import type { Image } from '../../pool/image.ts';
import { isLoop } from '../../pool/source/loop.ts';
import type { Exchange, Headers } from '../http/request.ts';
import type { ProjectCache, ProjectState } from '../project-cache.ts';
import { allows, checkSignature, checkSource } from './access.ts';
import { readAddress } from './address.ts';
import { cacheControl, imageHeaders, imageResponse } from './response.ts';
import { type HotAnswer, HotAnswers } from './response-cache.ts';
import { variantKey } from './key.ts';
import { acceptedFormats, type NegotiationHeaders, readHints } from './negotiate.ts';
import { readOptions } from './options.ts';
import { effectiveVariant } from './variant.ts';

/** What the story below needs of the process that it runs in. */
export interface DeliveryEnvironment {
  readonly engine: Engine;
  readonly projects: ProjectCache;
  /** Whether a request is marked as background work by one who may do so. */
  readonly isBackground: (target: string, token: string) => Promise<boolean>;
  /** Unix ms. */
  readonly now: () => number;
}

/** The headers that decide the answer: copied at once, as the request is gone after an await. */
function negotiationHeaders(exchange: Exchange): NegotiationHeaders {
  return {
    accept: exchange.header('accept'),
    'sec-ch-dpr': exchange.header('sec-ch-dpr'),
    dpr: exchange.header('dpr'),
    'sec-ch-width': exchange.header('sec-ch-width'),
    width: exchange.header('width'),
    'sec-ch-viewport-width': exchange.header('sec-ch-viewport-width'),
    'viewport-width': exchange.header('viewport-width'),
  };
}

/** Everything that can make two requests differ in their answers, in one text. */
function rawRequest(exchange: Exchange, headers: NegotiationHeaders): string {
  return `${exchange.path}?${exchange.query}\n${headers.accept}\n${headers['sec-ch-dpr']}\n${headers.dpr}\n${headers['sec-ch-width']}\n${headers.width}\n${headers['sec-ch-viewport-width']}\n${headers['viewport-width']}`;
}

/** The image endpoint (spec 4.3). */
export class Delivery {
  readonly #engine: Engine;
  readonly #projects: ProjectCache;
  readonly #isBackground: DeliveryEnvironment['isBackground'];
  readonly #now: () => number;
  readonly #hot = new HotAnswers();

  constructor({ engine, projects, isBackground, now }: DeliveryEnvironment) {
    this.#engine = engine;
    this.#projects = projects;
    this.#isBackground = isBackground;
    this.#now = now;
  }

  /** A repeated request is answered on the spot, any other by the long way. */
  handle(exchange: Exchange): void | Promise<void> {
    const headers = negotiationHeaders(exchange);
    const ifNoneMatch = exchange.header('if-none-match');
    const token = exchange.header(backgroundHeader);
    const request = rawRequest(exchange, headers);
    const now = this.#now();
    // A worker's request is answered with other headers, so no answer to another is one for it.
    const hot = token === '' ? this.#hot.get(request, now) : undefined;
    if (hot === undefined || hot.entry.image === null) {
      return this.#deliver(exchange, request, headers, ifNoneMatch, token);
    }
    this.#engine.memory.touch(hot.entry, now);
    const { image } = hot.entry;
    exchange.respond(imageResponse(image, hitHeaders(image, hot, now), ifNoneMatch));
  }

  /** The way of a request, from its URL to its answer. */
  async #deliver(
    exchange: Exchange,
    request: string,
    headers: NegotiationHeaders,
    ifNoneMatch: string,
    token: string,
  ): Promise<void> {
    const { path, query } = exchange;
    if (isLoop(exchange.header('cdn-loop'), this.#engine.sources.loopId)) {
      throw new ServiceError('source_blocked', 'The source is an image of this service itself.');
    }
    const address = readAddress(path, query);
    const options = readOptions(address.parameters);

    const state = await this.#projects.find(address.projectId);
    if (state === null) {
      throw projectNotFound(address.projectId);
    }
    const { project } = state;
    const background = token !== '' && (await this.#isBackground(`${path}?${query}`, token));
    checkSource(project, address);
    // The worker needs no signature: what it warms is delivered to signed requests only.
    const expires = background ? null : checkSignature(project, address, path, query, this.#now());

    const variant = effectiveVariant(
      options,
      readHints(headers),
      acceptedFormats(headers.accept),
      project,
    );
    const key = variantKey(project._id, address.source, variant);

    const obtained = await this.#engine.obtain(
      key,
      {
        source: address.source,
        variant,
        allowed: (host) => allows(project, host),
        background,
      },
      exchange.signal,
    );

    const { image } = obtained;
    const imageHead = imageHeaders(image, obtained, cacheControl(expires, this.#now()));
    exchange.respond(imageResponse(image, imageHead, ifNoneMatch));
    if (expires !== null) this.#remember(request, key, state, expires);
  }

  #remember(request: string, key: string, project: ProjectState, expires: number): void {
    const now = this.#now();
    const entry = this.#engine.memory.get(key, now);
    if (entry === null) return;
    const headers = imageHeaders(entry.image, fromMemory, cacheControl(expires, now));
    this.#hot.set(request, { project, entry, headers, expires });
  }
}

const fromMemory = { from: 'memory', timings: {} } as const;

/** Of a repeated answer: those of a signed URL change from second to second. */
function hitHeaders(image: Image, { headers, expires }: HotAnswer, now: number): Headers {
  return expires === Number.POSITIVE_INFINITY
    ? headers
    : imageHeaders(image, fromMemory, cacheControl(expires, now));
}
