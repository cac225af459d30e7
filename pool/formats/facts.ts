import type { Size } from '../geometry.ts';
import type { SourceKind } from './kinds.ts';
import type { ColourSpace } from './metadata/colour-space.ts';

/** Properties of a source, read from its headers. */
export interface SourceFacts {
  readonly kind: SourceKind;
  /**
   * Size of one frame in pixels as stored, before the orientation is applied. An SVG's size is in CSS
   * pixels and may be fractional.
   */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1..8. */
  readonly orientation: number;
  /** 1 unless animated. */
  readonly frames: number;
  /** Pages, images or frames in the file. */
  readonly pages: number;
  /** Requested page, from 0, which the other facts describe; null if none was requested. */
  readonly page: number | null;
  /** Null for a single frame. */
  readonly timing: Timing | null;
  readonly hasAlpha: boolean;
  /** True for a TIFF whose samples include others than colours and alpha; those are dropped. */
  readonly extraSamples: boolean;
  readonly colour: SourceColour;
  /** True for a HEIC that libvips cannot decode; see heic/decode.ts. */
  readonly byLibheif: boolean;
  /** Size of the gain map in pixels; null if absent, and in processes that do not read gain maps. */
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
  /** Null without a profile, or if it has no name. */
  readonly profileName: string | null;
  /** True if colours are the same without the profile, whatever its name. */
  readonly isSrgb: boolean;
  /** True for 16 bits per channel. */
  readonly is16Bit: boolean;
  /** The profile's colour space; null for sRGB, no profile, and profiles that cannot be converted to. */
  readonly space: ColourSpace | null;
}
