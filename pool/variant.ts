import type { Fit, Gravity } from '../contract/image-terms.ts';
import type { Colour } from './colour.ts';
import { type Chroma, getEncoding, type OutputFormat } from './rendering/encode/encodings.ts';
import {
  isAnyRequested,
  type Operation,
  type OperationName,
  type OperationValues,
  operations,
} from './rendering/operations.ts';
import type { SourceArea } from './rendering/pixel-effects.ts';

/** Responses instead of the image: text placeholders, and JSON metadata. */
export const placeholderKinds = ['blurhash', 'thumbhash', 'lqip', 'json'] as const;
export type PlaceholderKind = (typeof placeholderKinds)[number];

/** The part of the image that `cover` keeps, or the position of the image for `contain`. */
export const strategies = ['entropy', 'attention'] as const;
export type Position = Gravity | (typeof strategies)[number];

/** The point that `cover` keeps in the middle, as fractions of the width and the height, 0..1. */
export interface FocalPoint {
  readonly x: number;
  readonly y: number;
}

/** Interpolation for scaling (sharp's terms). */
export const kernels = [
  'nearest',
  'linear',
  'cubic',
  'mitchell',
  'lanczos2',
  'lanczos3',
  'mks2013',
  'mks2021',
] as const;
export type Kernel = (typeof kernels)[number];

export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Edges {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

/** How a layer blends with the image below (sharp's terms). */
export const blends = [
  'over',
  'multiply',
  'screen',
  'overlay',
  'darken',
  'lighten',
  'color-dodge',
  'color-burn',
  'hard-light',
  'soft-light',
  'difference',
  'exclusion',
  'add',
] as const;
export type Blend = (typeof blends)[number];

/** CSS pixels, or percent of the output's width or height. */
export interface Length {
  readonly amount: number;
  readonly unit: 'px' | '%';
}

/** Where and how a layer is drawn. */
export interface LayerPlacement {
  readonly position: Gravity;
  /** From the left or right edge, to the inside; to the right for a position in the middle. */
  readonly offsetX: Length;
  /** From the upper or lower edge, to the inside; down for a position in the middle. */
  readonly offsetY: Length;
  /** Repeats the layer over the whole output; the offsets are then the gaps. */
  readonly tiled: boolean;
  /** Percent. */
  readonly opacity: number;
  /** Clockwise, in degrees. */
  readonly rotate: number;
  readonly blend: Blend;
}

export interface ImageLayer extends LayerPlacement {
  readonly kind: 'image';
  readonly url: string;
  /** Percent of the output's width, after the rotation; used without `width` and `height`. */
  readonly scale: number;
  /** The box that the image fits in, or null. */
  readonly width: Length | null;
  readonly height: Length | null;
  readonly radius: OperationValues['radius'];
  /** Whether this is the project's watermark, which can come from any host. */
  readonly isWatermark: boolean;
}

export const alignments = ['left', 'center', 'right'] as const;
export type Alignment = (typeof alignments)[number];

export interface TextLayer extends LayerPlacement {
  readonly kind: 'text';
  readonly words: string;
  /** The font's family. */
  readonly font: string;
  /** A font file of the project, used instead of the family; null if not set. */
  readonly fontUrl: string | null;
  /** 100..900. */
  readonly weight: number;
  /** Percentages refer to the output's width; `fit` is the largest size that fits the box. */
  readonly size: Length | 'fit';
  /** The box of the text: percent of the output's width and height. */
  readonly width: number;
  readonly height: number;
  readonly color: Colour;
  /** Transparent by default. */
  readonly background: Colour;
  /** Percentages refer to the output's width. */
  readonly padding: Length;
  readonly align: Alignment;
  /** More lines end with an ellipsis. */
  readonly maxLines: number | null;
}

export type Layer = ImageLayer | TextLayer;

/** Returns the URL of a layer's image or font file; null for a text in an installed font. */
export const layerUrl = (layer: Layer): string | null =>
  layer.kind === 'image' ? layer.url : layer.fontUrl;

/**
 * Returns whether words are drawn on the image, which only processes with fonts do: their layout
 * cannot be interrupted.
 */
export const hasText = ({ layers }: Pick<Variant, 'layers'>): boolean =>
  layers?.some(({ kind }) => kind === 'text') ?? false;

/** Returns whether words are drawn with a project's font file. */
export const hasProjectFont = ({ layers }: Pick<Variant, 'layers'>): boolean =>
  layers?.some((layer) => layer.kind === 'text' && layer.fontUrl !== null) ?? false;

/**
 * All request properties that determine an output's bytes, except the source, after merging query,
 * client hints and project defaults. Plain data, because it is sent to threads.
 */
export interface Variant extends OperationValues {
  /** The area of the upright source to use; clipped to the source. */
  readonly crop: SourceArea | null;
  /** Removes borders that differ from the corner's colour by at most this, 0..100. */
  readonly trim: number | null;
  /**
   * Box width in device pixels (CSS width times dpr, rounded, at least 1); null derives it from the
   * height.
   */
  readonly width: number | null;
  /** Box height in device pixels; null derives it from the width. */
  readonly height: number | null;
  /** Device pixels of a box side per pixel of the upright source's, in place of `width` or `height`. */
  readonly widthShare: number | null;
  readonly heightShare: number | null;
  /** Sides in device pixels that the image has at least, before the box cuts it; or null. */
  readonly minWidth: number | null;
  readonly minHeight: number | null;
  /** Factor of the scale at which `cover` shows the image. */
  readonly zoom: number;
  /**
   * Device pixels per CSS pixel of the box or, if there is no box, of `maxWidth`. Layers' lengths
   * grow with the output by this factor.
   */
  readonly pixelRatio: number;
  /**
   * The box's width divided by its height, if both are absent or one is a share; null for the image's
   * own ratio.
   */
  readonly aspectRatio: number | null;
  readonly fit: Fit;
  /** A point only for `cover`; of the image after crop, trim, flip, flop and rotate. */
  readonly position: Position | FocalPoint;
  /** True scales small images up; `box` keeps the box around them instead. */
  readonly enlarge: boolean | 'box';
  readonly kernel: Kernel;
  /** The output's maximum width in device pixels, or null. */
  readonly maxWidth: number | null;
  /** Border added after resizing, in device pixels. */
  readonly extend: Edges | null;
  /** Null for transparency, or white in formats without transparency. */
  readonly background: Colour | null;
  /** Flattens transparency on the background. */
  readonly flatten: boolean;
  /**
   * The watermark comes first. Each layer is drawn on the previous layers; null if the request
   * names no layers.
   */
  readonly layers: readonly Layer[] | null;
  /** In order of preference; the source's own format if no other is suitable. */
  readonly formats: readonly OutputFormat[];
  /**
   * Whether the formats were negotiated; animated sources then skip formats that cannot be
   * animated.
   */
  readonly negotiated: boolean;
  /**
   * The only page or frame to use, from 0; null for all frames, or for the first page or primary
   * image.
   */
  readonly page: number | null;
  /** True accepts a source with missing or corrupt pixels. */
  readonly lenient: boolean;
  /** False uses only the first frame of an animation. */
  readonly animated: boolean;
  /** Response instead of the image that the other fields describe. */
  readonly placeholder: PlaceholderKind | null;
  /** 1..100, or `auto` for the quality that makes the output look as good as others. */
  readonly quality: number | 'auto';
  /** Maximum bytes for a lossy output; the quality is lowered as needed. */
  readonly maxBytes: number | null;
  /** Null keeps pixels exactly when that takes fewer bytes, as for drawings. */
  readonly lossless: boolean | null;
  /** Resolution of chroma; null to choose by quality and pixels. */
  readonly chroma: Chroma | null;
  /** Encodes a JPEG in several scans. */
  readonly progressive: boolean;
  /** Pixels per inch that a JPEG or PNG states, for printing. */
  readonly density: number | null;
  /** False keeps EXIF, XMP and ICC. */
  readonly stripMetadata: boolean;
  /** Keeps author, copyright and licence of stripped metadata. */
  readonly copyright: boolean;
  /** Keeps an RGB profile, and the colours in it. */
  readonly keepProfile: boolean;
  /** Keeps a JPEG's gain map (ISO 21496-1, Ultra HDR), if present. */
  readonly gainMap: boolean;
}

/**
 * How a field changes the image: by the `source` data that are read, their `page`, the `area` of it,
 * without a border by `trim`, turned; by the `output`'s size, format or encoding; by an `encoding`
 * that the source itself can lack; by a `border`
 * after the resize, the `background` or other `pixels`; or by the `form` of the response. An SVG
 * follows `source` and `output`; a gain map everything except `trim` and `pixels`.
 */
export const effects = [
  'source',
  'page',
  'area',
  'trim',
  'turn',
  'output',
  'encoding',
  'border',
  'background',
  'pixels',
  'form',
] as const;
export type Effect = (typeof effects)[number];

/** Returns whether a field can affect the output, given the others. */
type IsUsed = (variant: Variant) => boolean;

interface FieldTraits {
  /** The parameters that set the field, if not the one with its name. */
  readonly parameters?: readonly string[];
  /** Absent if it always is. */
  readonly isUsed?: IsUsed;
}

type Fields<Names extends keyof Variant> = {
  readonly [Field in Names]: readonly [Variant[Field], Effect, FieldTraits?];
};

/** Returns whether the output's format is unknown, or has a property. */
function mayHave(
  variant: Variant,
  property: 'lossy' | 'lossless' | 'progressive' | 'density',
): boolean {
  const [format] = variant.negotiated ? [] : variant.formats;
  return format === undefined || getEncoding(format)[property] !== undefined;
}

// `enlarge=box` can pad an image to a single side, to a length that depends on the pixel ratio.
const keepsBox: IsUsed = ({ enlarge }) => enlarge === 'box';
const usesRatio: IsUsed = ({ fit }) => fit !== 'inside' && fit !== 'outside';
const hasShare: IsUsed = ({ widthShare, heightShare }) =>
  widthShare !== null || heightShare !== null;
const isRaised: IsUsed = ({ minWidth, minHeight }) => minWidth !== null || minHeight !== null;
const usesFit: IsUsed = (variant) =>
  isRaised(variant) ||
  hasShare(variant) ||
  variant.zoom !== 1 ||
  (variant.width !== null && variant.height !== null) ||
  (variant.aspectRatio !== null && usesRatio(variant)) ||
  keepsBox(variant);
const usesCssPixels: IsUsed = (variant) =>
  variant.layers !== null ||
  keepsBox(variant) ||
  isAnyRequested(variant, (operation) => operation.usesCssPixels);
const mayBeLossless: IsUsed = (variant) => mayHave(variant, 'lossless');
const mayBeLossy: IsUsed = (variant) =>
  mayHave(variant, 'lossy') &&
  (variant.lossless !== true ||
    variant.negotiated ||
    variant.formats.length === 0 ||
    !mayBeLossless(variant));

/** For each field, the value that changes only the encoding, and the effect of other values. */
const ownFields: Fields<Exclude<keyof Variant, OperationName>> = {
  crop: [null, 'area'],
  trim: [null, 'trim'],
  width: [null, 'output', { parameters: ['w'] }],
  height: [null, 'output', { parameters: ['h'] }],
  widthShare: [null, 'output', { parameters: ['w'] }],
  heightShare: [null, 'output', { parameters: ['h'] }],
  minWidth: [null, 'output', { parameters: ['minw'] }],
  minHeight: [null, 'output', { parameters: ['minh'] }],
  zoom: [1, 'area', { isUsed: ({ fit }) => fit === 'cover' }],
  pixelRatio: [1, 'output', { parameters: ['dpr'], isUsed: usesCssPixels }],
  aspectRatio: [
    null,
    'output',
    { parameters: ['ar'], isUsed: (variant) => usesRatio(variant) || hasShare(variant) },
  ],
  fit: ['cover', 'output', { isUsed: usesFit }],
  position: [
    'center',
    'output',
    {
      parameters: ['pos', 'fp'],
      isUsed: (variant) =>
        usesFit(variant) && (usesRatio(variant) || isRaised(variant)) && variant.fit !== 'fill',
    },
  ],
  enlarge: [false, 'output'],
  kernel: ['lanczos3', 'output'],
  maxWidth: [null, 'output'],
  extend: [null, 'border'],
  background: [null, 'background', { parameters: ['bg'] }],
  flatten: [false, 'background'],
  layers: [null, 'pixels', { parameters: ['layer', 'watermark'] }],
  formats: [[], 'output', { parameters: ['fmt'] }],
  negotiated: [false, 'output'],
  page: [null, 'page'],
  lenient: [false, 'source'],
  animated: [true, 'output', { isUsed: ({ page }) => page === null }],
  placeholder: [null, 'form', { parameters: ['fmt'] }],
  quality: [80, 'output', { parameters: ['q'], isUsed: mayBeLossy }],
  maxBytes: [null, 'output', { parameters: ['maxbytes'], isUsed: mayBeLossy }],
  lossless: [null, 'output', { isUsed: mayBeLossless }],
  chroma: [null, 'encoding', { isUsed: mayBeLossy }],
  progressive: [false, 'encoding', { isUsed: (variant) => mayHave(variant, 'progressive') }],
  density: [null, 'encoding', { isUsed: (variant) => mayHave(variant, 'density') }],
  stripMetadata: [true, 'output'],
  copyright: [false, 'output', { parameters: ['keep'] }],
  keepProfile: [false, 'output', { parameters: ['icc'] }],
  gainMap: [false, 'form', { parameters: ['hdr'] }],
};

type OperationRow = Pick<Operation<unknown>, 'plain' | 'place' | 'parameters'>;

const operationFields = Object.fromEntries(
  Object.entries<OperationRow>(operations).map(([name, { plain, place, parameters }]) => [
    name,
    [plain, place === 'turn' ? 'turn' : 'pixels', parameters && { parameters }],
  ]),
) as unknown as Fields<OperationName>;

const fields: Fields<keyof Variant> = { ...ownFields, ...operationFields };

type Field = keyof Variant;

/** The variant that changes only the encoding. */
export const plainVariant = Object.fromEntries(
  Object.entries(fields).map(([field, [value]]) => [field, value]),
) as unknown as Variant;

/** Returns a variant's fields that request any of the effects. */
export function changedFields(variant: Variant, ...effects: readonly Effect[]): readonly Field[] {
  return (Object.keys(fields) as Field[]).filter(
    (field) => effects.includes(fields[field][1]) && variant[field] !== plainVariant[field],
  );
}

/** Returns the names of the parameters that set a field. */
export const parametersOf = (field: Field): readonly string[] =>
  fields[field][2]?.parameters ?? [field];

/** Returns the effect of a parameter, or undefined if it sets no field. */
export function effectOf(parameter: string): Effect | undefined {
  const field = (Object.keys(fields) as Field[]).find((field) =>
    parametersOf(field).includes(parameter),
  );
  return field && fields[field][1];
}

/** Returns whether a variant's field can affect the output. */
export const isUsed = (variant: Variant, field: Field): boolean =>
  fields[field][2]?.isUsed?.(variant) ?? true;
