import { parse, type Token, tokenize } from '@humanwhocodes/momoa';
import { ServiceError } from '../../contract/errors.ts';
import { parseQuery } from '../image/address.ts';
import { invalidRequest } from './validation-messages.ts';

/** Valid bodies nest at most 2 levels; up to this depth, unknown fields are reported by name. */
const maxDepth = 16;

/**
 * Limits values, names and punctuation: a list of 1,000 hosts contains 2,000. A 64 KiB body could
 * hold 65,000, which take 0.1 s to read and check.
 */
const maxTokens = 4_000;

/** Names that enable prototype pollution. */
const unsafeNames = new Set(['__proto__', 'constructor', 'prototype']);

const rejected = (reason: string): ServiceError =>
  invalidRequest(`The body was rejected: ${reason}`);

/**
 * Parses JSON (RFC 8259) strictly: UTF-8 only; no repeated names, which parsers read differently;
 * no NUL or lone surrogate in strings, which databases might change; no unsafe names; bounded
 * nesting and size.
 * @throws ServiceError invalid_request
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  try {
    checkStructure(text);
    return JSON.parse(text, checkValue);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw rejected(`the body is not valid JSON${findPosition(text)}`);
  }
}

/** Returns the position of the first error, if the parser reports one. */
function findPosition(text: string): string {
  try {
    parse(text, { mode: 'json' });
    return '';
  } catch (error) {
    const { line, column } = error as { readonly line?: number; readonly column?: number };
    return line === undefined ? '' : ` at line ${line}, column ${column}`;
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw rejected('the body is not valid UTF-8');
  }
}

/**
 * Checks for repeated names, which a parsed value does not contain, and for deep nesting before a
 * parser recurses. JSON.parse checks the grammar.
 */
function checkStructure(text: string): void {
  const open: Set<string>[] = [];
  let previous: Token | undefined;
  let tokens = 0;
  for (const token of tokenize(text, { mode: 'json', ranges: true })) {
    tokens += 1;
    if (tokens > maxTokens) throw rejected(`the body has more than ${maxTokens} JSON tokens`);
    if (token.type === 'LBrace' || token.type === 'LBracket') open.push(new Set());
    else if (token.type === 'RBrace' || token.type === 'RBracket') open.pop();
    else if (token.type === 'Colon') {
      const name = String(JSON.parse(text.slice(...(previous?.range ?? []))));
      const names = open.at(-1);
      if (names?.has(name)) {
        throw rejected(`${name.slice(0, 80).toWellFormed()} is given more than once`);
      }
      names?.add(name);
    }
    if (open.length > maxDepth) {
      throw rejected(`the body is nested deeper than ${maxDepth} levels`);
    }
    previous = token;
  }
}

/** A reviver for JSON.parse that only checks names and values. */
function checkValue(name: string, value: unknown): unknown {
  if (unsafeNames.has(name)) throw rejected(`the name ${name} is not allowed`);
  for (const text of typeof value === 'string' ? [name, value] : [name]) {
    if (text.includes('\0')) throw rejected('a string contains NUL');
    if (!text.isWellFormed()) throw rejected('a string contains a lone surrogate');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw rejected('a number is too large');
  }
  return value;
}

/**
 * Returns a function that returns a parameter's value, or null if it is missing, and adds an error
 * if it is repeated.
 * @throws ServiceError invalid_request if there are too many parameters
 */
export function queryReader(query: string, errors: string[]): (name: string) => string | null {
  const parameters = parseQuery(query, 'invalid_request');
  return (name) => {
    const [value = null, ...more] = parameters.getAll(name);
    if (more.length > 0) errors.push(`${name} is given more than once`);
    return value;
  };
}
