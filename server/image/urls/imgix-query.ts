import { parseQuery } from '../address.ts';
import { noEquivalent, optionInvalid } from './meaning.ts';

/** Short names of parameters that have an equivalent. */
const aliases: Readonly<Record<string, string>> = {
  width: 'w',
  height: 'h',
  f: 'fit',
  fillcolor: 'fill-color',
  inv: 'invert',
  'jpeg-progressive': 'jpg-progressive',
};

/** Parameters with an equivalent for at least some values. */
const understood = new Set(
  `ar auto bg chromasub crop cs dl dpr expires fill fill-color fit flip fm fp-x fp-y fp-z frame h invert
  jpg-progressive lossless page q rect sat w`.split(/\s+/),
);

/** Library parameters, which imgix ignores in images, and the signature. */
const silent = new Set(['ixlib', 'ixid', 's']);

/** The Rendering API's other parameters, with their short names. */
const foreign = new Set(
  `annotation b ba balph bc bf bh blur bm bp bri bs bw bx by ch colorquant colors con corner-radius dpi duotone
  duotone-alpha exp faceindex facepad faces fp-debug fps gam high htn hue interval iptc license-plate-blur loop lp-blur m
  ma malph mask mask-bg maskbg max-h max-height max-w max-width mb mf mh min-h min-height min-w min-width mono
  monochrome mp ms mtile mw mx my nr nrs or orient pad palette pdf-annotation prefix px rasterize-bypass reverse rot
  rot-type rott rottype sepia shad sharp skip svg-sanitize t ta tc tcl tf tl tp transparency trim tsh tsz tt txt
  upscale upscale-fallback usm usmrad vib`.split(/\s+/),
);
const foreignPrefix =
  /^(?:bg-re|background-re|blend|border|face-|fill-|gif-|grid-|mark|object-removal-|pad-|trim|txt|video-)/;

/** Adjustments that have no effect at 0. */
const adjustments = new Set(
  'blur bri con exp gam high htn hue pad px rot sepia shad sharp usm vib'.split(' '),
);

const isForeign = (name: string): boolean => foreign.has(name) || foreignPrefix.test(name);

/** Maximum length of a base64url value, in a parameter with a name ending in 64. */
const maxEncodedLength = 2_000;

function decoded(name: string, text: string): string {
  const isEncoded = text.length <= maxEncodedLength && /^[\w-]*={0,2}$/.test(text);
  if (!isEncoded) {
    throw optionInvalid(name, `must be at most ${maxEncodedLength} characters of base64url`);
  }
  return Buffer.from(text, 'base64url').toString('utf8');
}

/** The parameters of an imgix URL by long name. Each can be taken once. */
export class ImgixQuery {
  readonly #given = new Map<string, string>();
  readonly #unknown = new Set<string>();

  /**
   * @throws ServiceError parameter_invalid naming a parameter that has no equivalent, or is
   *   repeated
   */
  constructor(query: string) {
    for (const [name, value] of parseQuery(query)) this.#add(name, value);
  }

  #add(spelling: string, value: string): void {
    const isEncoded = spelling.endsWith('64') && !silent.has(spelling);
    const written = isEncoded ? spelling.slice(0, -2) : spelling;
    const name = (Object.hasOwn(aliases, written) && aliases[written]) || written;
    if (silent.has(name)) {
      if (name === 's' && this.#given.has('s')) throw optionInvalid('s', 'is given more than once');
      if (name === 's') this.#given.set('s', '');
      return;
    }
    if (!understood.has(name)) {
      if (adjustments.has(name) && value === '0') return;
      if (isForeign(name)) throw noEquivalent(spelling);
      this.#unknown.add(spelling);
      return;
    }
    const text = isEncoded ? decoded(spelling, value) : value;
    const before = this.#given.get(name);
    // Only `auto` can be repeated.
    if (before !== undefined && name !== 'auto')
      throw optionInvalid(name, 'is given more than once');
    this.#given.set(name, before === undefined ? text : `${before},${text}`);
  }

  /** Returns a parameter's value, and removes it from the ignored parameters. */
  take(name: string): string | undefined {
    const value = this.#given.get(name);
    this.#given.delete(name);
    return value;
  }

  /** @throws ServiceError parameter_invalid if the value is not a flag */
  takeFlag(name: string): boolean | undefined {
    const text = this.take(name);
    if (text === undefined) return undefined;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw optionInvalid(name, 'must be true or false');
  }

  /** Returns the parameters that were not taken, and those that imgix does not support. */
  ignored(): string[] {
    return [...this.#given.keys(), ...this.#unknown].filter((name) => name !== 's');
  }
}
