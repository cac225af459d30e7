import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import { unsupported } from '../errors.ts';
import {
  cssTokens,
  effectsOfAttribute,
  effectsOfDeclarations,
  type StyleEffect,
} from './declarations.ts';
import type { SvgDocument, SvgElement } from './document.ts';
import { refuseDataUrl } from './embedded.ts';

/** Index of a rule: the simple selector `.class`, `#id`, `name`, or `*`. */
type Key = string;

/** More than any drawing has on one element, or in the rules of one selector. */
const maxEffects = 1_000;
const maxClasses = 1_000;

function requireAtMost(count: number, max: number, what: string): void {
  if (count > max) throw unsupported(`The SVG has more than ${max} ${what}.`);
}

/** Possible effects on each element, from its attributes and the document's style sheets. */
export class Styles {
  readonly #rules = new Map<Key, StyleEffect[]>();

  constructor({ styleSheets }: SvgDocument) {
    for (const sheet of styleSheets) {
      // Skips most sheets, which have neither references nor layers.
      if (/url|filter|opacity|blend|isolation|import|\\/i.test(sheet)) this.#read(sheet);
    }
  }

  effectsOf(element: SvgElement): StyleEffect[] {
    const effects = [...element.attributes].flatMap(([name, value]) =>
      name === 'style' ? effectsOfDeclarations(cssTokens(value)) : effectsOfAttribute(name, value),
    );
    if (this.#rules.size > 0) {
      for (const key of keysOf(element)) {
        for (const effect of this.#rules.get(key) ?? []) effects.push(effect);
      }
    }
    requireAtMost(effects.length, maxEffects, 'effects on one element');
    return effects;
  }

  /** Splits a sheet into rules (CSS Syntax, 5.4.1). librsvg supports no at-rule except `@import`. */
  #read(sheet: string): void {
    let prelude: CSSToken[] = [];
    let block: CSSToken[] = [];
    let depth = 0;
    for (const token of cssTokens(sheet)) {
      const [type] = token;
      if (type === TokenType.OpenCurly) depth += 1;
      const atRule = prelude[0]?.[0] === TokenType.AtKeyword;
      if (depth > 0) {
        if (!atRule) block.push(token);
      } else if (type !== TokenType.CDO && type !== TokenType.CDC && !isSpace(type, prelude)) {
        prelude.push(token);
      }
      if (type === TokenType.CloseCurly && depth > 0) depth -= 1;
      else if (depth > 0 || !(atRule && type === TokenType.Semicolon)) continue;
      if (depth > 0) continue;
      this.#add(prelude, block);
      prelude = [];
      block = [];
    }
    this.#add(prelude, block);
  }

  #add(prelude: readonly CSSToken[], block: readonly CSSToken[]): void {
    if (prelude[0]?.[0] === TokenType.AtKeyword) {
      for (const token of prelude) {
        if (token[0] === TokenType.URL || token[0] === TokenType.String) {
          refuseDataUrl(token[4].value);
        }
      }
      return;
    }
    const effects = effectsOfDeclarations(block.slice(1));
    if (effects.length === 0) return;
    for (const key of selectorKeys(prelude)) {
      const known = this.#rules.get(key) ?? [];
      for (const effect of effects) known.push(effect);
      requireAtMost(known.length, maxEffects, 'effects in the rules of one selector');
      this.#rules.set(key, known);
    }
  }
}

function isSpace(type: TokenType, prelude: readonly CSSToken[]): boolean {
  return prelude.length === 0 && (type === TokenType.Whitespace || type === TokenType.Comment);
}

function keysOf({ name, attributes }: SvgElement): Set<Key> {
  const classes = (attributes.get('class') ?? '').split(/\s+/).filter((one) => one !== '');
  requireAtMost(classes.length, maxClasses, 'classes on one element');
  const keys = [...classes.map((one) => `.${one}`), `#${attributes.get('id') ?? ''}`, name, '*'];
  return new Set(keys);
}

/**
 * One key for each selector of a list. Elements that the selector matches have the key. The rest of the
 * selector is ignored, so a rule may apply to more elements than in CSS.
 */
function selectorKeys(prelude: readonly CSSToken[]): Set<Key> {
  const keys = new Set<Key>();
  let key: Key = '*';
  let nested = 0;
  let ended = false;
  let before: CSSToken | null = null;
  for (const token of prelude) {
    const [type] = token;
    if (closing.has(type)) nested -= 1;
    if (nested === 0) {
      const ends = type === TokenType.Whitespace || isDelimiter(token, '>+~');
      if (type === TokenType.Comma) keys.add(key);
      // Whitespace at the end of a selector is not a combinator.
      if (type === TokenType.Comma || (ended && !ends)) key = '*';
      ended = ends;
      if (type === TokenType.Ident && isDelimiter(before, '.')) key = `.${token[4].value}`;
      else if (type === TokenType.Hash) key = `#${token[4].value}`;
      else if (type === TokenType.Ident && key === '*' && startsCompound(before)) {
        key = token[4].value;
      }
    }
    if (opening.has(type)) nested += 1;
    if (type !== TokenType.Comment) before = token;
  }
  return keys.add(key);
}

const opening: ReadonlySet<TokenType> = new Set([
  TokenType.Function,
  TokenType.OpenParen,
  TokenType.OpenSquare,
]);
const closing: ReadonlySet<TokenType> = new Set([TokenType.CloseParen, TokenType.CloseSquare]);

function startsCompound(before: CSSToken | null): boolean {
  if (before === null || isDelimiter(before, '>+~')) return true;
  return before[0] === TokenType.Whitespace || before[0] === TokenType.Comma;
}

function isDelimiter(token: CSSToken | null, among: string): boolean {
  return token?.[0] === TokenType.Delim && among.includes(token[4].value);
}
