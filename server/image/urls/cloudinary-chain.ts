import type { Size } from '../../../pool/geometry.ts';
import type { Site } from '../site.ts';
import { readColour, readComponent, readGravity, toFormat } from './cloudinary-options.ts';
import { parametersOfSize, type Resize, readResize, setResize } from './cloudinary-resize.ts';
import { Meaning, noEquivalent, optionInvalid, readInteger, readNumber } from './meaning.ts';

type Options = Map<string, string>;

/** The native meaning of a chain. */
interface ReadChain {
  readonly parameters: Map<string, string>;
  /** The options that Cloudinary ignores as well. */
  readonly ignored: readonly string[];
  /** Returns the parameters for a source size, or null if they do not depend on the size. */
  readonly bySize: ((size: Size) => ReadonlyMap<string, string>) | null;
}

const resizeNames = ['c', 'w', 'h', 'ar', 'g', 'x', 'y'];

/**
 * A transformation's components, which Cloudinary applies in sequence. This service applies all
 * operations in a fixed order, and refuses a chain in another order unless the result is the same.
 */
export class Chain {
  readonly #meaning = new Meaning();
  readonly #ignored: string[] = [];
  readonly #site: Site;
  readonly #extension: string | null;
  #preset: string | null = null;
  #format: string | null = null;
  #quality: string | null = null;
  #dpr: string | null = null;
  #crop = false;
  #resize: Resize | null = null;
  #isTurned = false;
  #rotation = 0;
  #background = false;
  #isFiltered = false;

  /** @param extension the format requested by the public id, or null */
  constructor(site: Site, extension: string | null) {
    this.#site = site;
    this.#extension = extension;
  }

  /**
   * Adds a component.
   * @param source provides the default file name of an attachment
   * @throws ServiceError parameter_invalid naming an option that has no equivalent
   */
  add(component: string, source: string): void {
    const options = readComponent(component);
    const isGeometry = resizeNames.some((name) => options.has(name));
    this.#addPreset(options);
    if (isGeometry) this.#addGeometry(options);
    this.#addBackground(options, isGeometry);
    this.#addAngle(options.get('a'), isGeometry);
    this.#addFilters(options);
    this.#addDelivery(options, source);
  }

  end(): ReadChain {
    const meaning = this.#meaning;
    const resize = this.#resize;
    if (this.#preset !== null) {
      // The values of other options depend on those of the preset.
      const isAlone = !this.#crop && resize === null && !this.#isTurned && !this.#isFiltered;
      if (!isAlone || this.#background || this.#dpr !== null) {
        throw optionInvalid(`t_${this.#preset}`, 'may be chained with f, q and fl only');
      }
    }
    const { presets = {} } = this.#site.project;
    const preset = Object.hasOwn(presets, this.#preset ?? '') ? presets[this.#preset ?? ''] : {};
    const dpr = readNumber('dpr', this.#dpr ?? '1', 0.1, 10);
    if (dpr !== 1 && (resize === null || resize.sides === 0)) {
      throw optionInvalid('dpr', 'needs a resize before it or with it');
    }
    if (preset?.['dpr'] === undefined) meaning.set('dpr', 'dpr', dpr >= 1 && dpr <= 3 ? dpr : 1);
    if (resize !== null) setResize(meaning, resize, dpr);
    const format = this.#format ?? this.#extension;
    if (format !== null) meaning.set('f', 'fmt', format);
    const { parameters } = meaning;
    if (resize?.isForLarger !== true) return { parameters, ignored: this.#ignored, bySize: null };
    if (this.#crop || this.#isTurned) {
      throw optionInvalid('c_lfill', 'has no equivalent with another change of the geometry');
    }
    const bySize = (size: Size) => parametersOfSize(resize, dpr, size, parameters);
    return { parameters, ignored: this.#ignored, bySize };
  }

  #addPreset(options: Options): void {
    const name = options.get('t');
    if (name === undefined) return;
    if (this.#preset !== null) throw optionInvalid('t', 'is given more than once');
    this.#preset = name;
    this.#meaning.set('t', 'preset', name);
  }

  #addGeometry(options: Options): void {
    if (options.get('c') === 'crop') return this.#addCrop(options);
    const sized = ['c', 'w', 'h', 'ar'].some((name) => options.has(name));
    const gravity = options.get('g');
    if (!sized) {
      // Resize options need a crop.
      this.#ignored.push(...resizeNames.filter((name) => options.has(name)));
      return;
    }
    for (const name of ['x', 'y'])
      if (options.has(name)) throw noEquivalent(`${name}_ without c_crop`);
    if (this.#resize !== null) throw optionInvalid('c', 'is given for more than one resize');
    const resize = readResize(options);
    this.#resize = resize;
    if (gravity === undefined) return;
    if (resize.isPlaced) resize.position = readGravity(gravity);
    else this.#ignored.push('g');
    if (resize.fit === 'contain' && resize.position === 'attention') throw noEquivalent('g_auto');
  }

  /** A source area in pixels, because all other areas depend on the source size. */
  #addCrop(options: Options): void {
    if (this.#crop || this.#resize !== null || this.#isTurned) {
      throw optionInvalid('c_crop', 'must be the first change of the geometry');
    }
    if (options.has('dpr') || options.has('ar')) throw noEquivalent('c_crop with dpr or ar');
    const gravity = options.get('g');
    const isAtCorner =
      gravity === 'north_west' || (gravity === undefined && (options.has('x') || options.has('y')));
    if (!isAtCorner) throw noEquivalent(`c_crop with g_${gravity ?? 'center'}`);
    const side = (name: string, least: number) =>
      readInteger(name, options.get(name) ?? (least === 0 ? '0' : ''), least, 100_000);
    const area = [side('x', 0), side('y', 0), side('w', 1), side('h', 1)];
    this.#meaning.set('c_crop', 'crop', area.join(','));
    this.#crop = true;
  }

  /** The background behind transparency and around a padded image. */
  #addBackground(options: Options, isGeometry: boolean): void {
    const isPad = isGeometry && options.get('c') === 'pad';
    const colour = options.get('b');
    if (isPad && (this.#isFiltered || (this.#background && colour === undefined))) {
      throw optionInvalid('c_pad', 'must come before effects and backgrounds');
    }
    if (colour === undefined) return;
    if (this.#isFiltered || options.has('e') || options.has('o')) {
      throw optionInvalid('b', 'must come before effects and opacity');
    }
    if (this.#background) throw optionInvalid('b', 'is given more than once');
    this.#background = true;
    this.#meaning.set('b', 'bg', readColour(colour));
    this.#meaning.set('b', 'flatten', true);
  }

  /** This service mirrors, rotates, and then resizes. */
  #addAngle(text: string | undefined, isGeometry: boolean): void {
    if (text === undefined) return;
    const resize = this.#resize;
    // A symmetric resize keeps or adds equal parts on both sides.
    const isSymmetric = resize === null || resize.position === null || resize.position === 'center';
    for (const word of text.split('.', 10)) {
      const isFlip = word === 'hflip' || word === 'vflip';
      if (!isFlip && !/^-?\d{1,3}$/.test(word)) throw noEquivalent(`a_${word}`);
      const degrees = isFlip ? 0 : Number(word) % 360;
      if (!isFlip && degrees === 0) continue;
      const isMisplaced = isFlip
        ? !isSymmetric || this.#rotation % 180 !== 0
        : resize !== null || isGeometry;
      if (isMisplaced) {
        throw optionInvalid(`a_${word}`, 'has no equivalent at this place of the chain');
      }
      this.#isTurned = true;
      if (isFlip) this.#mirror(word === 'hflip' ? 'flop' : 'flip');
      else {
        this.#rotation += degrees;
        this.#meaning.set('a', 'rotate', this.#rotation % 360);
      }
    }
  }

  #mirror(name: 'flop' | 'flip'): void {
    const isMirrored = this.#meaning.parameters.has(name);
    if (isMirrored) this.#meaning.parameters.delete(name);
    else this.#meaning.set('a', name, true);
  }

  #addFilters(options: Options): void {
    const effect = options.get('e');
    if (effect !== undefined) {
      if (effect !== 'grayscale' && effect !== 'negate') throw noEquivalent(`e_${effect}`);
      this.#isFiltered = true;
      const isRepeated = effect === 'negate' && this.#meaning.parameters.has('negate');
      if (isRepeated) throw optionInvalid('e_negate', 'is given more than once');
      const hasBars = this.#resize?.fit === 'contain' && !this.#background;
      if (hasBars && effect === 'negate') throw optionInvalid('e_negate', 'after c_pad needs b');
      this.#meaning.set(`e_${effect}`, effect, true);
    }
    const opacity = options.get('o');
    if (opacity === undefined) return;
    if (this.#meaning.parameters.has('opacity'))
      throw optionInvalid('o', 'is given more than once');
    this.#isFiltered = true;
    this.#meaning.set('o', 'opacity', readNumber('o', opacity, 0, 100) / 100);
  }

  #addDelivery(options: Options, source: string): void {
    const meaning = this.#meaning;
    const once = (name: string, before: string | null): string | null => {
      const value = options.get(name);
      if (value === undefined) return before;
      if (before !== null) throw optionInvalid(name, 'is given more than once');
      return value;
    };
    this.#dpr = once('dpr', this.#dpr);
    this.#quality = once('q', this.#quality);
    if (options.has('q')) this.#setQuality(this.#quality ?? '');
    const format = options.get('f');
    if (format !== undefined) {
      const native = format === 'auto' ? 'auto' : toFormat(format);
      if (native === null) throw noEquivalent(`f_${format}`);
      if (this.#format !== null) throw optionInvalid('f', 'is given more than once');
      this.#format = native;
    }
    const page = options.get('pg');
    if (page !== undefined) meaning.set('pg', 'page', readInteger('pg', page, 1, 100_000) - 1);
    const space = options.get('cs') ?? 'srgb';
    if (space !== 'srgb') throw noEquivalent(`cs_${space}`);
    for (const flag of options.get('fl')?.split('.', 20) ?? []) this.#setFlag(flag, source);
  }

  #setQuality(quality: string): void {
    // Cloudinary's default level of `auto` is `good`.
    if (quality === 'auto' || quality === 'auto:good') this.#meaning.set('q', 'q', 'auto');
    else if (/^\d{1,3}$/.test(quality)) this.#meaning.set('q', 'q', Number(quality));
    else throw noEquivalent(`q_${quality}`);
  }

  #setFlag(flag: string, source: string): void {
    const [name = '', ...given] = flag.split(':');
    if (name === 'attachment') {
      const file = source.replace(/^.*\//s, '').replace(/\.[A-Za-z0-9]{1,5}$/, '');
      this.#meaning.set('fl_attachment', 'download', given.join(':') || file);
    } else if (flag === 'keep_attribution') this.#meaning.set('fl', 'keep', 'copyright');
    // The first flag changes no pixel, and animations stay animated here.
    else if (!['progressive', 'animated', 'awebp'].includes(flag)) throw noEquivalent(`fl_${flag}`);
  }
}
