import type { Size } from '../geometry.ts';
import type { SourceKind } from './kinds.ts';
import type { ColourSpace } from './metadata/colour-space.ts';
import type { SvgCost } from './svg/read.ts';

/** Properties of a source that are known before it is decoded. */
export interface SourceFacts {
  readonly kind: SourceKind;
  /**
   * Size of one frame in pixels as stored, before the orientation is applied; of a vector graphic in
   * CSS pixels, which need not be whole.
   */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1..8. */
  readonly orientation: number;
  /** 1 unless animated. */
  readonly frames: number;
  /** Pages, images or frames in the file. */
  readonly pages: number;
  /** The page that the other facts are about, from 0; null when none was asked for. */
  readonly page: number | null;
  /** Null for a single frame. */
  readonly timing: Timing | null;
  readonly hasAlpha: boolean;
  /** True for a TIFF with samples that are neither colours nor alpha, which are left out. */
  readonly extraSamples: boolean;
  readonly colour: SourceColour;
  /** The cost of rasterising; null except for SVG. */
  readonly svg: SvgCost | null;
  /** The gain map's size in pixels; null for none, and in a process that does not read them. */
  readonly gainMap: Size | null;
}

export interface Timing {
  /** Delay of each frame, in ms. */
  readonly delay: readonly number[];
  /** Number of repetitions; 0 is infinite. */
  readonly loop: number;
}

export interface SourceColour {
  readonly model: 'rgb' | 'grey' | 'other';
  readonly hasProfile: boolean;
  /** True for a profile that is called sRGB. */
  readonly isSrgb: boolean;
  /** True for 16 bits per channel. */
  readonly deep: boolean;
  /** That of the profile; null without one, for sRGB, and where colours cannot be converted to it. */
  readonly space: ColourSpace | null;
}
