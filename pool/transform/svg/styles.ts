import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import {
  cssTokens,
  type Effect,
  effectsOfAttribute,
  effectsOfDeclarations,
} from './declarations.ts';
import type { SvgDocument, SvgElement } from './document.ts';
import { refuseDataUrl } from './embedded.ts';

/** What an element must have to be matched by a selector: `.class`, `#id`, `name`, or `*`. */
type Key = string;

/** Tells which effects an element may have, by its attributes and the document's style sheets. */
export class Styles {
  readonly #rules = new Map<Key, Effect[]>();

  constructor({ styleSheets }: SvgDocument) {
    for (const sheet of styleSheets) {
      // Most sheets neither refer to anything nor make layers.
      if (/url|filter|opacity|blend|isolation|import|\\/i.test(sheet)) this.#read(sheet);
    }
  }

  effectsOf(element: SvgElement): Effect[] {
    const effects: Effect[] = [];
    for (const [name, value] of element.attributes) {
      if (name === 'style') effects.push(...effectsOfDeclarations(cssTokens(value)));
      else effects.push(...effectsOfAttribute(name, value));
    }
    if (this.#rules.size > 0) {
      for (const key of keysOf(element)) effects.push(...(this.#rules.get(key) ?? []));
    }
    return effects;
  }

  /** Splits a sheet into rules (CSS Syntax, 5.4.1); of at-rules the decoder knows only `@import`. */
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
      this.#rules.set(key, [...(this.#rules.get(key) ?? []), ...effects]);
    }
  }
}

function isSpace(type: TokenType, prelude: readonly CSSToken[]): boolean {
  return prelude.length === 0 && (type === TokenType.Whitespace || type === TokenType.Comment);
}

function keysOf({ name, attributes }: SvgElement): Set<Key> {
  const classes = (attributes.get('class') ?? '').split(/\s+/).filter((one) => one !== '');
  const keys = [...classes.map((one) => `.${one}`), `#${attributes.get('id') ?? ''}`, name, '*'];
  return new Set(keys);
}

/**
 * One condition for each selector of a list that all elements have which it matches: the rest of
 * the selector is not looked at, so that more elements may seem to match than do.
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
      // Space at the end of a selector is no combinator.
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
  ...[TokenType.Function, TokenType.OpenParen, TokenType.OpenSquare],
]);
const closing: ReadonlySet<TokenType> = new Set([TokenType.CloseParen, TokenType.CloseSquare]);

function startsCompound(before: CSSToken | null): boolean {
  if (before === null || isDelimiter(before, '>+~')) return true;
  return before[0] === TokenType.Whitespace || before[0] === TokenType.Comma;
}

function isDelimiter(token: CSSToken | null, among: string): boolean {
  return token?.[0] === TokenType.Delim && among.includes(token[4].value);
}
