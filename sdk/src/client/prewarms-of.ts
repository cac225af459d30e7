import type { ImageOptions } from '../generated/parameters.ts';
import { maxPrewarmWidths, prewarmValues } from '../generated/prewarm.ts';
import type { PrewarmInput } from '../generated/schemas.ts';
import type { Picture } from '../image-urls.ts';
import { readUrl } from '../read.ts';

/** The URLs that the attributes of a `picture` element have, as `createImageUrls` makes them. */
export interface PictureUrls {
  readonly sources: readonly Pick<Picture['sources'][number], 'srcset'>[];
  readonly img: Pick<Picture['img'], 'src' | 'srcset'>;
}

/** Prewarming cannot express what a picture requests. Nothing of it was queued. */
export class NotPrewarmableError extends Error {
  override readonly name = 'NotPrewarmableError';
  /** The URLs, each with all reasons. */
  readonly urls: readonly { readonly url: string; readonly reasons: readonly string[] }[];

  constructor(urls: NotPrewarmableError['urls']) {
    const reasons = [...new Set(urls.flatMap((one) => one.reasons))];
    const more = reasons.length > 5 ? `; and ${reasons.length - 5} more reasons` : '';
    super(
      `Prewarming cannot express ${urls.length} URLs of the picture: ${reasons.slice(0, 5).join('; ')}${more}.`,
    );
    this.urls = urls;
  }
}

export type Prewarm = PrewarmInput & { readonly projectId: string };

/** The images of one source with the same options but for width and format. */
interface Group {
  readonly projectId: string;
  readonly src: string;
  readonly options: Pick<PrewarmInput, 'quality' | 'fit' | 'dpr'>;
  /** The widths of each format. */
  readonly widths: Map<Format, Set<number>>;
}

type Format = (typeof prewarmValues.fmt)[number];

/**
 * The prewarm requests for exactly the images of a picture, each at most once. One with `fmt=auto` has three
 * forms, of which a browser requests one.
 *
 * @throws NotPrewarmableError
 */
export function prewarmsOf({ sources, img }: PictureUrls): Prewarm[] {
  const sets = [...sources.map(({ srcset }) => srcset), img.srcset ?? ''];
  const candidates = sets
    .flatMap((set) => set.split(/,\s+/))
    .map((one) => one.trim().split(/\s/)[0]);
  const refused: { url: string; reasons: readonly string[] }[] = [];
  const groups = new Map<string, Group>();
  for (const url of new Set([...candidates, img.src])) {
    // A browser requests nothing for it.
    if (url === undefined || /^(?:(?:data|blob):|$)/i.test(url)) continue;
    const reasons = add(url, groups);
    if (reasons.length > 0) refused.push({ url, reasons });
  }
  if (refused.length > 0) throw new NotPrewarmableError(refused);
  return [...groups.values()].flatMap(requestsOf);
}

/** Adds an image to its group, unless there are reasons not to. @returns the reasons */
function add(url: string, groups: Map<string, Group>): readonly string[] {
  const image = readImage(url);
  if (image === null) return ['a URL is not an image of the service'];
  const { projectId, src, options } = image;
  const given = { w: undefined, fmt: undefined, ...options };
  const reasons = Object.entries(given).flatMap(([name, value]) => refusal(name, value));
  if (reasons.length > 0) return reasons;
  // `refusal` has checked them.
  const { w, fmt, q, fit, dpr } = options as { w: number; fmt: Format } & ImageOptions;
  const common = { quality: q, fit, dpr } as Group['options'];
  const key = JSON.stringify([projectId, src, common]);
  const group: Group = groups.get(key) ?? { projectId, src, options: common, widths: new Map() };
  groups.set(key, group);
  group.widths.set(fmt, (group.widths.get(fmt) ?? new Set()).add(w));
  return reasons;
}

/** The parts of an image URL with its source in the path, or null. */
function readImage(url: string) {
  const [, rest = ''] = /^[^?#]*?\/img\/(https?(?::|%3a).*)$/i.exec(url) ?? [];
  try {
    const { src, project: projectId, options } = readUrl(rest);
    return src === '' || src === null || projectId === null ? null : { src, projectId, options };
  } catch {
    // Malformed percent-encoding.
    return null;
  }
}

interface Range {
  readonly minimum: number;
  readonly maximum: number;
}
const accepted: Readonly<Record<string, Range | readonly string[]>> = prewarmValues;

/** Why prewarming cannot express an option: none or one reason. */
function refusal(name: string, value: unknown): string[] {
  const values = Object.hasOwn(accepted, name) ? accepted[name] : undefined;
  if (values === undefined) return [`it has no ${name}`];
  if ('minimum' in values) {
    const { minimum, maximum } = values;
    if (Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum) return [];
    return [`${name} must be a whole number from ${minimum} to ${maximum}`];
  }
  return values.includes(String(value)) ? [] : [`${name} must be one of ${values.join(', ')}`];
}

/** The fewest requests for a group: each request has every combination of its widths and formats. */
function requestsOf({ projectId, src, options, widths }: Group): Prewarm[] {
  const formatsOf = new Map<string, Format[]>();
  for (const [format, set] of widths) {
    const key = JSON.stringify([...set].sort((a, b) => a - b));
    formatsOf.set(key, [...(formatsOf.get(key) ?? []), format]);
  }
  return [...formatsOf].flatMap(([key, formats]) => {
    const all: number[] = JSON.parse(key);
    const count = Math.ceil(all.length / maxPrewarmWidths);
    return Array.from({ length: count }, (_, part) => {
      const from = part * maxPrewarmWidths;
      return {
        projectId,
        src,
        formats,
        widths: all.slice(from, from + maxPrewarmWidths),
        ...options,
      };
    });
  });
}
