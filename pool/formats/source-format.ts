import type { Metadata, SharpOptions } from 'sharp';
import type { ServiceError } from '../../contract/errors.ts';
import type { Size } from '../geometry.ts';
import type { Variant } from '../variant.ts';
import type { Matcher } from './bytes.ts';
import type { ContainerFormat, Examination } from './container/examination.ts';
import type { MemoryFiles } from './memory-files.ts';
import type { ColourSpace } from './metadata/colour-space.ts';

/** A source format. Each is the object of one folder and an entry of the list in `source-formats.ts`. */
export interface SourceFormat {
  /** Name in the answer to `fmt=json`, such as `jpeg`. */
  readonly name: string;
  /** Name in messages. */
  readonly label: string;
  /** Name among the formats that the service reads, if that is not the label. */
  readonly listedAs?: string;
  /** Usual extensions of file names, in lower case. */
  readonly extensions: readonly string[];
  /** Recognises the format by the first bytes; the formats before it in the list did not match. */
  readonly matches: Matcher;
  /** The setting with which an operator refuses the format; absent if the service always reads it. */
  readonly setting?: FormatSetting;
  /** Resolves when it is known whether libvips decodes the format; absent if that is always known. */
  readonly probed?: Promise<void>;
  /** `process` for decoders that only a process, which can be killed, may use. */
  readonly runsIn: 'thread' | 'process';
  /** The loader of libvips that threads block, if it is used only in processes. */
  readonly isolatedLoader?: string;
  /** True for vector graphics, which are rasterised at the required size. */
  readonly vector: boolean;
  /**
   * True if further pages are frames of an animation. The pages of other formats are separate images: only the
   * first or the primary one is served.
   */
  readonly animates: boolean;
  /** True if libvips reads the metadata of the files that `examine` returns. */
  readonly hasMetadata: boolean;
  readonly cost: DecodingCost;
  /** Null if the parts of the file are not examined, because only a process with limits of its own opens it. */
  readonly container: ContainerFormat | null;
  /** sharp's options for files of the format. */
  readonly options: SharpOptions;
  /**
   * Whether the decoder may scale to this part of the size as far as sharp lets it; absent if it always may, or never
   * scales.
   */
  readonly decodesReduced?: (scale: number) => boolean;
  /**
   * The part of its size at which the decoder opens a file that is then scaled to `scale`, where sharp would let it
   * decode more pixels; null to leave the choice to sharp. Absent for a format without such scales.
   */
  readonly decoderScale?: (scale: number, size: Size) => number | null;
  /** True if texts in files of the format are drawn with the fonts of the process. */
  readonly drawsLetters?: boolean;
  /** True if nothing interrupts the decoder, so that its caller must limit the time. */
  readonly uninterruptible?: boolean;
  /** Whether a file inside the source has metadata that a thread must not read. */
  readonly hidesMetadata?: (container: Container) => boolean;
  /** True for a source that may have a gain map; only its decoder can verify it. */
  readonly mayHaveGainMap?: (source: Uint8Array) => boolean;
  /** EXIF that libvips does not read, of a source or an output in this format; null if absent. */
  readonly ownExif?: (file: Uint8Array) => Buffer | null;
  /**
   * The error for a file that failed to decode because of an encoding that no decoder supports; null for other
   * encodings. The file's own fields decide: the threads share one buffer for libvips' messages, so a message may
   * be missing or belong to another file.
   */
  readonly unsupportedEncoding?: (source: Uint8Array, cause: unknown) => ServiceError | null;
  /**
   * Reads the size and depth of a source from its first bytes, for the cost estimate of a format that threads do not
   * open; null if the header does not contain them. Absent for formats that threads examine.
   *
   * @throws ServiceError source_unsupported, source_corrupt, source_too_large
   */
  readonly weigh?: (container: Container, limits: InspectionLimits) => Weight | null;
  /**
   * Reads the properties of a source from its headers, and refuses sources that must not be decoded.
   *
   * On a thread it must not be called for sources of `isExaminedInProcess`.
   *
   * @throws ServiceError source_unsupported, source_corrupt, source_too_large, parameter_invalid for a
   *   page that the source does not have
   */
  readonly examine: (
    container: Container,
    limits: InspectionLimits,
    options: ExamineOptions,
  ) => Promise<Examined>;
  /**
   * Makes the input of sharp from a file in this format, after the size was checked.
   *
   * @throws ServiceError source_unsupported, source_corrupt, source_too_large
   */
  readonly open: (opening: Opening) => DecoderInput | Promise<DecoderInput>;
}

export interface FormatSetting {
  /** The name of the setting among {@link AllowedFormats}. */
  readonly name: string;
  /** Name of the format in the message that refuses it. */
  readonly refused: string;
  /** Completes "To use it: ...". */
  readonly advice: string;
}

/** Whether an operator allows the formats that have a setting, by its name. */
export type AllowedFormats = Readonly<Record<string, boolean>>;

/** A source, with properties of its container that are read before any decoder opens it. */
export interface Container extends Examination {
  readonly format: SourceFormat;
  /** As decoders read it. */
  readonly bytes: Uint8Array;
  /** As it may be delivered: without what `bytes` may have for the decoders. */
  readonly deliverable: Uint8Array;
}

export interface InspectionLimits {
  /** Pixels of all frames together. */
  readonly sourceMaxPixels: number;
  /** Maximum memory of a transform process. */
  readonly processMemoryBytes: number;
}

/** The parameters of a variant that affect how its source is opened. */
export type ExamineOptions = Pick<
  Variant,
  'page' | 'lenient' | 'stripMetadata' | 'copyright' | 'gainMap'
>;

export interface Examined {
  readonly facts: SourceFacts;
  /** The file that its own format opens: the source, or a file inside the source or converted from it. */
  readonly file: Container;
}

export interface Opening extends Examined {
  /** Pixels per CSS pixel of a vector source, or a scale of `decoderScale`; null for the stored size. */
  readonly scale: number | null;
  /** Open until the transform ends. */
  readonly files: MemoryFiles;
  /** True to open all frames of an animation. */
  readonly animated: boolean;
  /** True if EXIF and XMP are needed. */
  readonly keepsMetadata: boolean;
  /** See Variant. */
  readonly lenient: boolean;
}

/** Input of sharp. */
export interface DecoderInput {
  readonly bytes: Uint8Array;
  /** A file with these bytes that sharp opens instead, with options of libvips after its name. */
  readonly path?: string;
  readonly options: SharpOptions;
}

/** ms for decoding a million pixels, and bytes for one. */
export interface DecodingCost {
  readonly ms: number;
  /** Also of coefficients, and of pixels that are copied. */
  readonly bytes: number;
  /** Of samples with more than 8 bits, if they take more. */
  readonly deep?: Pick<DecodingCost, 'ms' | 'bytes'>;
  /** Factor of the bytes for pixels with alpha, if they take more. */
  readonly alphaFactor?: number;
  /** ms of a million pixels in one native call that libvips' timeout does not interrupt. */
  readonly uninterruptibleMs?: number;
}

/** Pixels of a source, with what determines the cost of one. */
export interface Weight extends Size {
  readonly is16Bit: boolean;
  readonly hasAlpha: boolean;
}

/** The fields of sharp's metadata that facts are made of. */
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
   * Size of one frame in pixels as stored, before the orientation is applied. The size of a vector source is in CSS
   * pixels and may be fractional.
   */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1..8. */
  readonly orientation: number;
  /** 1 unless animated. */
  readonly frames: number;
  /** Frames of the animation in the file, which may be one that is not read; 1 unless animated. */
  readonly storedFrames: number;
  /** Pages, images or frames in the file. */
  readonly pages: number;
  /** Requested page, from 0, which the other facts describe; null if none was requested. */
  readonly page: number | null;
  /** Null for a single frame. */
  readonly timing: Timing | null;
  readonly hasAlpha: boolean;
  /** True if samples include others than colours and alpha; those are dropped. */
  readonly extraSamples: boolean;
  readonly colour: SourceColour;
  /** True if the format's own decoder is used, because libvips lacks it. */
  readonly ownDecoder: boolean;
  /** True if only a process may decode the source, although a thread may examine it. */
  readonly exceedsThread: boolean;
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
