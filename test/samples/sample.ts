import type { DialectName } from '../../urls/src/index.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The pictures that the sampled URLs are of. */
export const pictures = {
  'photo.jpg': { width: 1_600, height: 1_000 },
  'portrait.jpg': { width: 1_000, height: 1_500 },
  'small.png': { width: 400, height: 250 },
  'logo.png': { width: 600, height: 600 },
  /** Of 1600 × 1000 pixels in a plain border. */
  'frame.png': { width: 1_780, height: 1_100 },
} as const satisfies Readonly<Record<string, Size>>;

export type Picture = keyof typeof pictures;

/** Returns the size that another service's documents promise. */
export type Rule = (source: Size, box: Size) => Size;

const size = (width: number, height: number): Size => ({
  width: Math.max(1, Math.round(width)),
  height: Math.max(1, Math.round(height)),
});

/** Scales a source by a factor. */
const scaled = ({ width, height }: Size, factor: number): Size =>
  size(width * factor, height * factor);

interface Scaling {
  readonly dpr?: number;
  readonly enlarge?: boolean;
}

/** The source's size. */
export const whole: Rule = (source) => source;

/** The box's size. */
export const exact =
  (dpr = 1): Rule =>
  (_, { width, height }) =>
    size(width * dpr, height * dpr);

/** The box's width, and the height by the source's ratio. */
export const wide =
  ({ dpr = 1, enlarge = true }: Scaling = {}): Rule =>
  (source, { width }) => {
    const factor = (width * dpr) / source.width;
    return scaled(source, enlarge ? factor : Math.min(1, factor));
  };

/** The box's height, and the width by the source's ratio. */
export const high =
  ({ dpr = 1, enlarge = true }: Scaling = {}): Rule =>
  (source, { height }) => {
    const factor = (height * dpr) / source.height;
    return scaled(source, enlarge ? factor : Math.min(1, factor));
  };

/** The largest size with the source's ratio in the box. */
export const inside =
  ({ dpr = 1, enlarge = true }: Scaling = {}): Rule =>
  (source, { width, height }) => {
    const factor = Math.min((width * dpr) / source.width, (height * dpr) / source.height);
    return scaled(source, enlarge ? factor : Math.min(1, factor));
  };

/** The smallest size with the source's ratio around the box. */
export const outside: Rule = (source, { width, height }) =>
  scaled(source, Math.max(width / source.width, height / source.height));

/** The box, of which no side exceeds the source's. */
export const clipped =
  (dpr = 1): Rule =>
  (source, { width, height }) =>
    size(Math.min(width * dpr, source.width), Math.min(height * dpr, source.height));

/** The same, if fewer device pixels a pixel are used for a source that lacks them. */
export const limited =
  (dpr: number): Rule =>
  (source, box) => {
    const missing = Math.max((box.width * dpr) / source.width, (box.height * dpr) / source.height);
    return clipped(Math.max(1, Math.min(dpr, dpr / missing)))(source, box);
  };

/** The box, or the largest part of the source with the box's ratio. */
export const ofRatio: Rule = (source, { width, height }) => {
  const factor = Math.min(1, source.width / width, source.height / height);
  return size(width * factor, height * factor);
};

/** The box's width, and the height by a ratio. */
export const atRatio =
  (ratio: number): Rule =>
  (_, { width }) =>
    size(width, width / ratio);

/** Another rule for a part of the source. @param part a size in pixels, or shares of the sides */
export const ofPart =
  (part: Size, rule: Rule): Rule =>
  (source, box) => {
    const side = (name: keyof Size) =>
      part[name] <= 1 ? Math.round(part[name] * source[name]) : Math.min(part[name], source[name]);
    return rule({ width: side('width'), height: side('height') }, box);
  };

/** Another rule for the source on its side. */
export const turned =
  (rule: Rule): Rule =>
  ({ width, height }, box) =>
    rule({ width: height, height: width }, box);

/** Another rule's size, with a border in pixels around it. */
export const bordered =
  (rule: Rule, border: number): Rule =>
  (source, box) => {
    const { width, height } = rule(source, box);
    return { width: width + 2 * border, height: height + 2 * border };
  };

/** The same size for every box. */
export const fixed =
  (width: number, height: number): Rule =>
  () => ({ width, height });

/** The content of `frame.png`, by another rule. */
export const withoutFrame = (rule: Rule): Rule => ofPart(pictures['photo.jpg'], rule);

/** Boxes that five URLs of a template ask for; a template names the sides as {w} and {h}. */
const boxes: readonly (readonly [width: number, height: number])[] = [
  [320, 240],
  [640, 480],
  [300, 300],
  [1_200, 630],
  [180, 240],
];

const alternately: readonly Picture[] = [
  'photo.jpg',
  'portrait.jpg',
  'photo.jpg',
  'photo.jpg',
  'small.png',
];

/**
 * A template, the rule for the size, and the picture if the template is for one only. Its URLs take
 * the options in brackets by turns. {b} stands for the URL of `logo.png` in base64url, and {u} for
 * the encoded one.
 */
export type Template = readonly [options: string, rule: Rule, picture?: Picture];

/** The templates of the kinds of sites that use image services. */
export interface Templates {
  readonly shop: readonly Template[];
  readonly magazine: readonly Template[];
  readonly cms: readonly Template[];
  readonly marketplace: readonly Template[];
}

export interface Sample {
  readonly kind: DialectName;
  readonly site: keyof Templates;
  readonly template: string;
  readonly picture: Picture;
  /** The path and the query. */
  readonly url: string;
  readonly expected: Size;
}

/**
 * Returns five URLs of each template.
 * @param toUrl builds the path and the query of a picture from options
 * @param base where the pictures are, with no trailing slash
 */
export function toSamples(
  kind: DialectName,
  templates: Templates,
  toUrl: (options: string, picture: Picture) => string,
  base: string,
): readonly Sample[] {
  const overlay = `${base}/logo.png`;
  return (Object.keys(templates) as (keyof Templates)[]).flatMap((site) =>
    templates[site].flatMap(([template, rule, only]) =>
      boxes.map(([width, height], index) => {
        const picture = only ?? alternately[index] ?? 'photo.jpg';
        const options = template
          .replaceAll(/\[([^\]]*)\]/g, (_, choices: string) => {
            const words = choices.split('~');
            return words[index % words.length] ?? '';
          })
          .replaceAll('{w}', String(width))
          .replaceAll('{h}', String(height))
          .replaceAll('{b}', Buffer.from(overlay).toString('base64url'))
          .replaceAll('{u}', encodeURIComponent(overlay));
        const expected = rule(pictures[picture], { width, height });
        return { kind, site, template, picture, url: toUrl(options, picture), expected };
      }),
    ),
  );
}
