import { type CSSToken, TokenType, tokenizer } from '@csstools/css-tokenizer';
import { unsupported } from '../errors.ts';
import { refuseDataUrl } from './embedded.ts';

/** Effect of a CSS declaration, or of the attribute of the same name, on the cost of an element. */
export interface StyleEffect {
  readonly property: 'filter' | 'mask' | 'clip-path' | 'paint' | 'marker' | 'layer';
  /** Id of the referenced element; null for a filter function or a layer. */
  readonly id: string | null;
}

/** Properties that affect the cost. */
const properties: ReadonlyMap<string, StyleEffect['property']> = new Map([
  ['filter', 'filter'],
  ['mask', 'mask'],
  ['clip-path', 'clip-path'],
  ['fill', 'paint'],
  ['stroke', 'paint'],
  ['marker', 'marker'],
  ['marker-start', 'marker'],
  ['marker-mid', 'marker'],
  ['marker-end', 'marker'],
  ['opacity', 'layer'],
  ['mix-blend-mode', 'layer'],
  ['isolation', 'layer'],
] as const);

/** Values that do not create a layer. */
const layerless: ReadonlySet<string> = new Set(['1', '1.0', '100%', 'normal', 'auto']);

/** Properties whose effects count for descendants in any case, so `inherit` changes nothing. */
const inheritable: ReadonlySet<StyleEffect['property']> = new Set(['paint', 'marker', 'layer']);

const ignored: ReadonlySet<TokenType> = new Set([TokenType.Whitespace, TokenType.Comment]);

/** The effects of a presentation attribute; none for any other attribute. */
export function effectsOfAttribute(name: string, value: string): StyleEffect[] {
  const property = properties.get(name);
  if (property === undefined || !mayHaveEffect(property, value)) return [];
  return effectsOfValue(property, cssTokens(value));
}

/** The effects of declarations. Invalid and overridden ones count: the cost is an upper bound. */
export function effectsOfDeclarations(tokens: Iterable<CSSToken>): StyleEffect[] {
  const effects: StyleEffect[] = [];
  let name: string | null = null;
  let value: CSSToken[] | null = null;
  const end = () => {
    const property = properties.get(name ?? '');
    if (property !== undefined && value !== null) {
      for (const effect of effectsOfValue(property, value)) effects.push(effect);
    }
    name = null;
    value = null;
  };
  for (const token of tokens) {
    const [type] = token;
    if (type === TokenType.Semicolon || type === TokenType.CloseCurly) end();
    else if (value !== null) value.push(token);
    else if (type === TokenType.Colon && name !== null) value = [];
    else if (type === TokenType.Ident) name = token[4].value.toLowerCase();
    else if (!ignored.has(type)) name = null;
  }
  end();
  return effects;
}

export function* cssTokens(css: string): Generator<CSSToken> {
  const source = tokenizer({ css });
  while (!source.endOfFile()) yield source.nextToken();
}

/** Avoids the tokenizer for plain colours, which nearly all attributes are. */
function mayHaveEffect(property: StyleEffect['property'], value: string): boolean {
  return property === 'layer' || /[(\\]|inherit/i.test(value);
}

function effectsOfValue(
  property: StyleEffect['property'],
  tokens: Iterable<CSSToken>,
): StyleEffect[] {
  const effects: StyleEffect[] = [];
  const add = (id: string | null) => effects.push({ property, id });
  let text = '';
  for (const token of tokens) {
    const [type, written] = token;
    if (!ignored.has(type)) text += written.toLowerCase();
    if (type === TokenType.URL || type === TokenType.String) {
      const url = token[4].value;
      refuseDataUrl(url);
      if (url.startsWith('#')) add(url.slice(1));
    } else if (type === TokenType.Function && property === 'filter') {
      if (token[4].value.toLowerCase() !== 'url') add(null);
    }
  }
  if (property === 'layer' && !layerless.has(text)) add(null);
  else if (text.includes('inherit') && !inheritable.has(property)) {
    throw unsupported(`The SVG uses 'inherit' for ${property}.`);
  }
  return effects;
}
