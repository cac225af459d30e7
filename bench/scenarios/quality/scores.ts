import sharp from 'sharp';
import type { Meter } from '../../encoders/meter.ts';
import type { EncodedFormat } from '../../servers/encoder-settings.ts';
import type { DefaultServer } from '../../servers/server.ts';
import { bytesAt, type CurvePoint, type Point } from './curves.ts';
import type { Photographs } from './photographs.ts';

/** On the encoders' own scales, with scores around those of the service's defaults. */
const qualities: Readonly<Record<EncodedFormat, Qualities>> = {
  jpeg: { around: [62, 72, 80, 87, 93], quick: [68, 90], extra: [35, 98] },
  webp: { around: [65, 75, 83, 90, 95], quick: [70, 92], extra: [35, 100] },
  avif: { around: [45, 55, 63, 71, 79], quick: [48, 76], extra: [25, 92] },
};

interface Qualities {
  readonly around: readonly number[];
  readonly quick: readonly number[];
  /** For photographs whose score is outside of the others. */
  readonly extra: readonly [low: number, high: number];
}

/** What scores are measured with. */
export interface ScoreOptions {
  readonly photographs: Photographs;
  readonly meter: Meter;
  readonly width: number;
  readonly format: EncodedFormat;
  readonly quick: boolean;
  /** A multiple of the number of photographs. */
  readonly first: number;
}

/** A server's images of one photograph. */
export interface Scored {
  readonly byDefault: Point;
  /** At the same qualities for all photographs. Empty for a server that does not vary. */
  readonly curve: readonly CurvePoint[];
  /** One more, if the score of the service is outside of the curve. */
  readonly extra: readonly CurvePoint[];
}

/** @param wanted the score at which bytes are compared; null without a comparison */
export async function score(
  options: ScoreOptions,
  server: DefaultServer,
  index: number,
  wanted: number | null,
): Promise<Scored> {
  const at = async (quality: number): Promise<CurvePoint> => ({
    quality,
    ...(await imageOf(options, server, index, quality)),
  });
  const byDefault = await imageOf(options, server, index, null);
  if (wanted === null || !server.acceptsQuality) return { byDefault, curve: [], extra: [] };
  const { around, quick, extra } = qualities[options.format];
  const curve: CurvePoint[] = [];
  for (const quality of options.quick ? quick : around) curve.push(await at(quality));
  if (bytesAt(curve, wanted) !== null) return { byDefault, curve, extra: [] };
  const isBelow = curve.every((point) => point.score > wanted);
  return { byDefault, curve, extra: [await at(extra[isBelow ? 0 : 1])] };
}

/** sharp's names. */
const decodedFormats = { jpeg: 'jpeg', webp: 'webp', avif: 'heif' } as const;

async function imageOf(
  { photographs, meter, width, format, first }: ScoreOptions,
  server: DefaultServer,
  index: number,
  quality: number | null,
): Promise<Point> {
  const what = `${server.name}: ${photographs.names[index]} as ${format}`;
  const template = server.imageUrl({ source: photographs.url, width, format }, quality);
  const url = template.replaceAll('{n}', String(first + index));
  const response = await fetch(url).catch((error: Error) => {
    throw new Error(`${what}: no answer from ${server.url}`, { cause: error });
  });
  const image = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw new Error(`${what}: ${response.status}`);
  const facts = await sharp(image).metadata();
  if (facts.format !== decodedFormats[format] || facts.width !== width) {
    throw new Error(`${what}: it answers with ${facts.format}, ${facts.width} px`);
  }
  const reference = await photographs.reference(index, width, facts.height);
  return { score: await meter.score(reference, image), bytes: image.length };
}
