import type { Metadata, SharpOptions } from 'sharp';
import type { ServiceError } from '../../contract/errors.ts';
import type { SettingName, Settings } from '../../contract/settings/table.ts';
import type { Size } from '../geometry.ts';
import type { Variant } from '../variant.ts';
import type { Matcher } from './bytes.ts';
import type { ContainerFormat, Examination } from './container/examination.ts';
import type { MemoryFiles } from './memory-files.ts';
import type { ColourSpace } from './metadata/colour-space.ts';

/** A source format. Each is a folder's object and an entry in the list in `source-formats.ts`. */
export interface SourceFormat {
  /** Name in the `fmt=json` response, such as `jpeg`. */
  readonly name: string;
  /** Name in messages. */
  readonly label: string;
  /** Name among the formats that the service reads, if that is not the label. */
  readonly listedAs?: string;
  /** Usual extensions of file names, in lower case. */
  readonly extensions: readonly string[];
  /** Recognises the format by the first bytes; the formats before it in the list did not match. */
  readonly matches: Matcher;
  /** The setting that disables the format; absent if the service always reads it. */
  readonly setting?: FormatSetting;
  /** `process` for decoders that must run in a killable process. */
  readonly runsIn: 'thread' | 'process';
  /** The libvips loader that threads block, because only processes use it. */
  readonly isolatedLoader?: string;
  /** Whether this is a vector format, which is rasterised at the required size. */
  readonly vector: boolean;
  /**
   * Whether more pages are animation frames. In other formats pages are separate images, and the
   * service delivers only the first or primary page.
   */
  readonly animates: boolean;
  /** True if libvips reads the metadata of the files that `examine` returns. */
  readonly hasMetadata: boolean;
  readonly cost: DecodingCost;
  /**
   * Null if the file's parts are not examined, because only a process that limits itself opens it.
   */
  readonly container: ContainerFormat | null;
  /** sharp's options for files of the format. */
  readonly options: SharpOptions;
  /**
   * Returns whether the decoder can scale to this fraction of the size, within sharp's own limits;
   * absent if it always can, or never scales.
   */
  readonly decodesReduced?: (scale: number) => boolean;
  /**
   * Returns the fraction of its size at which the decoder opens a file that is then scaled to
   * `scale`, where sharp would decode more pixels; null leaves the choice to sharp. Absent for
   * formats without such scales.
   */
  readonly decoderScale?: (scale: number, size: Size) => number | null;
  /** True if texts in files of the format are drawn with the fonts of the process. */
  readonly drawsLetters?: boolean;
  /** Whether the decoder cannot be interrupted, so that its caller must limit the time. */
  readonly uninterruptible?: boolean;
  /** Whether a file inside the source has metadata that a thread must not read. */
  readonly hidesMetadata?: (container: Container) => boolean;
  /** Returns whether a source could contain a gain map; only its decoder can verify it. */
  readonly mayHaveGainMap?: (source: Uint8Array) => boolean;
  /** EXIF that libvips does not read, of a source or an output in this format; null if absent. */
  readonly ownExif?: (file: Uint8Array) => Buffer | null;
  /**
   * Returns the error for a file that failed to decode because no decoder supports its encoding;
   * null for other encodings. Decides by the file's own fields: all threads share a buffer for
   * libvips messages, so a message can be missing or describe another file.
   */
  readonly unsupportedEncoding?: (source: Uint8Array, cause: unknown) => ServiceError | null;
  /**
   * Reads a source's size and depth from its first bytes, for the cost estimate of a format that
   * threads do not open; returns null if the header does not contain them. Absent for formats that
   * threads examine.
   *
   * @throws ServiceError source_unsupported, source_corrupt, source_too_large
   */
  readonly weigh?: (container: Container, limits: InspectionLimits) => Weight | null;
  /**
   * Reads a source's properties from its headers, and refuses sources that must not be decoded.
   *
   * Must not run on a thread for sources that `isExaminedInProcess`.
   *
   * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid
   *   for a missing page
   */
  readonly examine: (
    container: Container,
    limits: InspectionLimits,
    options: ExamineOptions,
  ) => Promise<InspectionResult>;
  /**
   * Creates sharp's input from a file in this format, after the size check.
   *
   * @throws ServiceError source_unsupported, source_corrupt, source_too_large
   */
  readonly open: (opening: OpenOptions) => DecoderInput | Promise<DecoderInput>;
}

export interface FormatSetting {
  readonly name: SettingName;
  /** Name of the format in the message that refuses it. */
  readonly refused: string;
  /** Completes "To use it: ...". */
  readonly advice: string;
}

/** The settings that allow formats; an absent one refuses its format. */
export type AllowedFormats = Partial<Settings>;

/** A source with container properties, read before any decoder opens it. */
export interface Container extends Examination {
  readonly format: SourceFormat;
  /** The bytes as decoders read them. */
  readonly bytes: Uint8Array;
  /** The bytes as delivered: without changes that `bytes` makes for decoders. */
  readonly deliverable: Uint8Array;
  /** Whether the source lacks its end, so that pixels can be missing. */
  readonly isIncomplete: boolean;
}

export interface InspectionLimits {
  /** Pixels of all frames together. */
  readonly sourceMaxPixels: number;
  /** Maximum memory of a transform process. */
  readonly processMemoryBytes: number;
}

/** Variant parameters that affect how the source is opened. */
export type ExamineOptions = Pick<
  Variant,
  'page' | 'lenient' | 'stripMetadata' | 'copyright' | 'gainMap'
>;

export interface InspectionResult {
  readonly facts: SourceFacts;
  /** The file that its own format opens: the source, or a file inside it or converted from it. */
  readonly file: Container;
}

export interface OpenOptions extends InspectionResult {
  /**
   * Pixels per CSS pixel of a vector source, or a scale from `decoderScale`; null for the stored
   * size.
   */
  readonly scale: number | null;
  /** Open until the transform ends. */
  readonly files: MemoryFiles;
  /** True to open all frames of an animation. */
  readonly animated: boolean;
  /** Whether EXIF and XMP are needed. */
  readonly keepsMetadata: boolean;
  /** See Variant. */
  readonly lenient: boolean;
}

/** sharp's input. */
export interface DecoderInput {
  readonly bytes: Uint8Array;
  /** A file with these bytes that sharp opens instead, with options of libvips after its name. */
  readonly path?: string;
  readonly options: SharpOptions;
}

/** ms for decoding a million pixels, and bytes for one. */
export interface DecodingCost {
  readonly ms: number;
  /** Includes coefficients and copied pixels. */
  readonly bytes: number;
  /** Cost with more than 8 bits per sample, if it is higher. */
  readonly deep?: Pick<DecodingCost, 'ms' | 'bytes'>;
  /** Factor of the bytes for pixels with alpha, if they take more. */
  readonly alphaFactor?: number;
  /** ms of a million pixels in one native call that libvips' timeout does not interrupt. */
  readonly uninterruptibleMs?: number;
}

/** A source's pixels, with everything that determines a pixel's cost. */
export interface Weight extends Size {
  readonly is16Bit: boolean;
  readonly hasAlpha: boolean;
}

/** The fields of sharp's metadata that facts derive from. */
export type FileHeader = Pick<
  Metadata,
  'format' | 'width' | 'height' | 'space' | 'channels' | 'depth' | 'hasProfile' | 'hasAlpha'
> &
  Partial<
    Pick<
      Metadata,
      'icc' | 'orientation' | 'pages' | 'pageHeight' | 'delay' | 'loop' | 'compression' | 'gainMap'
    >
  >;

/** Properties of a source, read from its headers. */
export interface SourceFacts {
  readonly format: SourceFormat;
  /**
   * A frame's size in pixels as stored, before applying the orientation. For a vector source, the
   * size in CSS pixels, which can be fractional.
   */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1..8. */
  readonly orientation: number;
  /** 1 unless animated. */
  readonly frames: number;
  /**
   * Frames in the file's animation, even if the service does not animate it; 1 for a still image.
   */
  readonly storedFrames: number;
  /** Pages, images or frames in the file. */
  readonly pages: number;
  /**
   * The requested page, from 0, which the other facts describe; null if the request names no page.
   */
  readonly page: number | null;
  /** Null for a single frame. */
  readonly timing: Timing | null;
  readonly hasAlpha: boolean;
  /** Whether samples include more than colours and alpha; additional samples are dropped. */
  readonly extraSamples: boolean;
  readonly colour: SourceColour;
  /** Whether the format uses its own decoder, because libvips lacks it. */
  readonly ownDecoder: boolean;
  /** Whether only a process can decode the source, although a thread can examine it. */
  readonly exceedsThread: boolean;
  /** The gain map's size in pixels; null if absent, and in processes that do not read gain maps. */
  readonly gainMap: Size | null;
}

export interface Timing {
  /** Delay per frame, in ms. */
  readonly delay: readonly number[];
  /** Number of repetitions; 0 is infinite. */
  readonly loop: number;
}

export interface SourceColour {
  readonly model: 'rgb' | 'grey' | 'other';
  readonly hasProfile: boolean;
  /** Null if the profile or its name is missing. */
  readonly profileName: string | null;
  /** Whether colours look the same without the profile, whatever its name. */
  readonly isSrgb: boolean;
  /** True for 16 bits per channel. */
  readonly is16Bit: boolean;
  /**
   * The profile's colour space; null for sRGB, a missing profile, and profiles that cannot be a
   * target.
   */
  readonly space: ColourSpace | null;
}
