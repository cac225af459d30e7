import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { ServiceError } from '../../../../contract/errors.ts';
import { escapeXml } from '../../../escape-xml.ts';
import { parseInPieces } from '../../../formats/svg/document.ts';
import { animated, animations, attributes, costlyEffects, elements, unwrapped } from './allowed.ts';
import { DrawnElement, isDrawnWithin } from './references.ts';

/** Maximum characters in a document delivered as SVG, and in the result. */
const maxCharacters = 5_000_000;
/** Maximum elements in a document, and in its drawing with every repetition. */
const maxElements = 50_000;
/** Maximum characters of the paths in a drawing, with every repetition. */
const maxPathCharacters = 2_000_000;
const maxAttributes = 100;
const maxDepth = 256;
/** Longest side of a filter's region, in sides of the drawing or of the filtered element. */
const maxFilterSides = 10;

/** Characters of all style sheets and `style` attributes of a document. */
const maxStyleText = 1_000_000;

/**
 * Matches values that load, run or escape; references within the document are replaced beforehand.
 */
const unsafe =
  /\\|<|&|@import|@charset|@namespace|@font-face|expression\s*\(|(?:java|vb)script:|behavior\s*:|-moz-binding|(?:url|src|image|image-set|cross-fade|element|paint|attr|url-prefix|domain|document)\s*\(|@property/i;

const comments = /\/\*[\s\S]*?(?:\*\/|$)/g;
const references = /url\(\s*(?:"#[^"'()\\]*"|'#[^"'()\\]*'|#[^"'()\\\s]*)\s*\)/gi;
/**
 * Matches resources, which become `none`, as if they had failed to load. No two parts match the
 * same spaces, because the time would grow quadratically.
 */
const resources = /url\((?!\s*["']?#)(?:\s*"[^"\\]*"\s*|\s*'[^'\\]*'\s*|[^'"()\\]*)\)/gi;
const embedded = /@(?:font-face\s*|property\s[^{}@]*)\{[^{}]*\}/gi;
/** Matches custom properties from their names' start. */
const variables = /(?<![^\s;{}])--[^\s:;{}]*\s*:[^;{}]*/g;
/** Excludes `@`, so that an unterminated rule is not read again for each rule before it. */
const imports = /@(?:import|charset|namespace)\b[^;{}@]*;/gi;

const svgNamespaces: readonly string[] = ['', 'http://www.w3.org/2000/svg'];
const xlink = 'http://www.w3.org/1999/xlink';
const xml = 'http://www.w3.org/XML/1998/namespace';

const tooLarge = (what: string) =>
  new ServiceError('source_too_large', `The SVG has too many ${what} to be delivered as SVG.`);

const costlyFilter = (what: string) =>
  new ServiceError(
    'source_too_large',
    `The SVG has a filter ${what}, which is not delivered as SVG.`,
  );

/** Attributes that replace the root element's own. */
export type RootAttributes = Readonly<Record<string, string>>;

/**
 * Rewrites a document with only its drawing: allowlisted elements and attributes, references within
 * the document, and embedded rasters. Keeps ids.
 *
 * @param text as from `readDocument`: well-formed, without a document type
 * @param images URLs of the images to keep
 * @throws ServiceError source_too_large
 */
export async function sanitise(
  text: string,
  root: RootAttributes,
  images: ReadonlySet<string>,
): Promise<string> {
  if (text.length > maxCharacters) throw tooLarge('characters');
  return new Writer(root, images).write(text);
}

/** How an open source element is handled. */
type Treatment = 'written' | 'unwrapped' | 'dropped';

class Writer {
  readonly #root: RootAttributes;
  readonly #images: ReadonlySet<string>;
  /** The drawing's longer side in its own units. */
  readonly #side: number;
  #written = '';
  /** Whether the last written tag is still unclosed, because its element could be empty. */
  #isTagOpen = false;
  #open: {
    readonly treatment: Treatment;
    readonly name: string;
    readonly part: DrawnElement | null;
  }[] = [];
  readonly #parts: DrawnElement[] = [];
  #sheets = '';
  #elements = 0;
  #styleText = 0;
  /** The open style sheet's text; null outside a style sheet. */
  #sheet: string | null = null;

  constructor(root: RootAttributes, images: ReadonlySet<string>) {
    this.#root = root;
    this.#images = images;
    this.#side = Math.max(...(root['viewBox']?.split(' ').slice(2).map(Number) ?? []));
  }

  async write(text: string): Promise<string> {
    const parser = new SaxesParser({ xmlns: true, position: false });
    parser.on('opentag', (tag) => this.#begin(tag));
    parser.on('closetag', () => this.#end());
    parser.on('text', (part) => this.#text(part));
    parser.on('cdata', (part) => this.#text(part));
    await parseInPieces(parser, text);
    const most = { elements: maxElements, pathCharacters: maxPathCharacters };
    if (!isDrawnWithin(most, this.#parts, this.#sheets)) {
      throw tooLarge('paths, references or repeated elements');
    }
    return this.#written;
  }

  #begin(tag: SaxesTagNS): void {
    this.#elements += 1;
    if (this.#elements > maxElements) throw tooLarge('elements');
    if (this.#open.length >= maxDepth) throw tooLarge('nested elements');
    if (Object.keys(tag.attributes).length > maxAttributes) throw tooLarge('attributes');
    const treatment = this.#chooseTreatment(tag);
    const name = tag.local;
    const parent = this.#open.at(-1)?.part ?? null;
    if (treatment !== 'written') {
      this.#open.push({ treatment, name, part: parent });
      return;
    }
    const attributes = this.#keptAttributes(tag);
    if (name === 'filter' && !this.#isBounded(attributes)) throw costlyFilter('of this size');
    const part = new DrawnElement(name, attributes, parent);
    this.#parts.push(part);
    const written = [...attributes]
      .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
      .join('');
    const namespace = parent === null ? ' xmlns="http://www.w3.org/2000/svg"' : '';
    this.#append(`<${name}${namespace}${written}`);
    this.#isTagOpen = true;
    if (name === 'style') this.#sheet = '';
    this.#open.push({ treatment, name, part });
  }

  #chooseTreatment({ uri, local, attributes: given }: SaxesTagNS): Treatment {
    if (this.#open.at(-1)?.treatment === 'dropped' || this.#sheet !== null) return 'dropped';
    if (!svgNamespaces.includes(uri)) return 'dropped';
    if (unwrapped.has(local)) return 'unwrapped';
    if (costlyEffects.has(local)) throw costlyFilter(`with ${local}`);
    if (!elements.has(local)) return 'dropped';
    if (!animations.has(local) || local === 'animateMotion') return 'written';
    const target = given['attributeName']?.value.trim() ?? '';
    return animated.has(target) ? 'written' : 'dropped';
  }

  #keptAttributes(tag: SaxesTagNS): ReadonlyMap<string, string> {
    const isRoot = this.#open.length === 0;
    const given = new Map<string, string>();
    for (const attribute of Object.values(tag.attributes)) {
      const kept = this.#kept(tag.local, attribute);
      if (kept !== null) given.set(...kept);
    }
    if (isRoot) {
      for (const [name, value] of Object.entries(this.#root)) given.set(name, value);
      given.set('style', withoutSize(given.get('style') ?? ''));
      if (given.get('style') === '') given.delete('style');
    }
    return given;
  }

  /** Returns an attribute's name and value in the result, or null to drop it. */
  #kept(element: string, { local, prefix, uri, value }: SaxesAttributeNS): [string, string] | null {
    if (uri === xml && (local === 'space' || local === 'lang')) return [`xml:${local}`, value];
    if (isReference({ local, prefix, uri })) {
      return this.#isSafeReference(element, value) ? ['href', value.trim()] : null;
    }
    if (prefix !== '' || !attributes.has(local)) return null;
    if (local === 'style') return this.#style(value);
    if ((local === 'begin' || local === 'end') && !/^[\d\s.:;+smhin-]*$|^indefinite$/.test(value)) {
      return null;
    }
    if (element === 'style' && local === 'type' && value.trim().toLowerCase() !== 'text/css') {
      return ['type', 'text/plain'];
    }
    // The count of repetitions would miss them.
    if (animations.has(element) && /url\s*\(/i.test(value)) return null;
    return isSafeValue(value) || local === 'id' || local === 'class' ? [local, value] : null;
  }

  /** Returns whether a filter's region is not far larger than the drawing or the filtered element. */
  #isBounded(filter: ReadonlyMap<string, string>): boolean {
    const side = filter.get('filterUnits') === 'userSpaceOnUse' ? this.#side : 1;
    return ['width', 'height'].every((name) => {
      const length = filter.get(name) ?? '';
      const number = Number.parseFloat(length);
      return !((length.includes('%') ? number / 100 : number / side) > maxFilterSides);
    });
  }

  /** Returns whether a reference stays within the document. */
  #isSafeReference(element: string, value: string): boolean {
    const reference = value.trim();
    const isImage = element === 'image' || element === 'feImage';
    // Browsers would load the document itself as an image.
    if (reference.startsWith('#') || !isImage) return reference.startsWith('#') && !isImage;
    return this.#images.has(reference) && raster.test(reference);
  }

  #style(value: string): [string, string] | null {
    this.#countStyle(value);
    const safe = safeDeclarations(value);
    return safe === '' ? null : ['style', safe];
  }

  #text(part: string): void {
    const open = this.#open.at(-1);
    if (open === undefined || open.treatment === 'dropped') return;
    if (this.#sheet === null) return this.#append(escapeXml(part));
    this.#countStyle(part);
    this.#sheet += part;
  }

  #end(): void {
    const closed = this.#open.pop();
    if (closed?.treatment !== 'written') return;
    if (this.#sheet !== null) {
      // Safe sheets contain no character that needs escaping except `>`.
      const sheet = safeSheet(this.#sheet);
      this.#sheets += `${sheet}\n`;
      this.#append(escapeXml(sheet));
      this.#sheet = null;
    }
    if (this.#isTagOpen) this.#written += '/>';
    else this.#append(`</${closed.name}>`);
    this.#isTagOpen = false;
  }

  #countStyle(text: string): void {
    this.#styleText += text.length;
    if (this.#styleText > maxStyleText) throw tooLarge('characters of style sheets');
  }

  #append(text: string): void {
    if (text === '') return;
    this.#written += this.#isTagOpen ? `>${text}` : text;
    this.#isTagOpen = false;
    if (this.#written.length > 2 * maxCharacters) throw tooLarge('characters');
  }
}

const isReference = ({ local, prefix, uri }: Pick<SaxesAttributeNS, 'local' | 'prefix' | 'uri'>) =>
  local === 'href' && (prefix === '' || uri === xlink);

/** Removes the size from the root's declarations, because the attributes set it. */
const withoutSize = (style: string): string =>
  style
    .split(';')
    .filter((declaration) => !/^\s*(?:(?:min|max)-)?(?:width|height)\s*:/i.test(declaration))
    .join(';');

const raster = /^data:image\/(?:png|jpe?g|gif|webp|avif)\s*;\s*base64\s*,[\sA-Za-z0-9+/=]*$/i;

/**
 * Returns whether a value refers only to its own document. Comments stay, because browsers read
 * `url(/*…` as a URL.
 */
const isSafeValue = (value: string): boolean => !unsafe.test(value.replace(references, ' '));

/** Removes resources, and references that the count of repetitions would miss. */
const bounded = (css: string): string =>
  css
    .replace(resources, 'none')
    .replace(variables, (declaration) => (/url\s*\(/i.test(declaration) ? '' : declaration));

/**
 * Removes comments, imports and fonts from a style sheet; returns '' if it could load or run
 * anything.
 */
function safeSheet(text: string): string {
  const own = text.replace(comments, ' ').replace(embedded, ' ').replace(imports, ' ');
  const sheet = bounded(own);
  return isSafeValue(sheet) ? sheet : '';
}

/** Returns the safe declarations of a `style` attribute. */
function safeDeclarations(text: string): string {
  const declarations = bounded(text.replace(comments, ' ')).split(';');
  return declarations
    .filter((declaration) => declaration.trim() !== '' && isSafeValue(declaration))
    .join(';');
}
