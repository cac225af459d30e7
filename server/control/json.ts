import { type AnyNode, parse, type ValueNode } from '@humanwhocodes/momoa';

/** No body of the interface nests deeper than 2; the rest is room for what is refused by name. */
const maxDepth = 16;

/** Names that code all over the world trips over. */
const unsafeNames = new Set(['__proto__', 'constructor', 'prototype']);

/** Thrown with what is wrong about the text, in words for its author. */
export class JsonInvalid extends Error {}

/**
 * A JSON text (RFC 8259) as a value, strictly: UTF-8 only, no name twice in an object (the RFC
 * leaves open which one counts, so two readers could disagree), no NUL or lone surrogate in a text
 * (a database may change them), no unsafe names, bounded nesting.
 * @throws JsonInvalid
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  checkDepth(text);
  let value: unknown;
  let body: ValueNode;
  try {
    // Which of them takes what it should not is different with each: a text must pass both.
    value = JSON.parse(text);
    body = parse(text, { mode: 'json' }).body;
  } catch {
    throw new JsonInvalid('the body is not valid JSON');
  }
  check(body);
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JsonInvalid('the body is not valid UTF-8');
  }
}

/** Before parsing, which recurses. Brackets within strings only make it stricter where nobody is. */
function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > maxDepth) throw new JsonInvalid(`the body nests deeper than ${maxDepth} levels`);
  }
}

function check(node: AnyNode): void {
  switch (node.type) {
    case 'Object':
      return checkObject(node.members);
    case 'Array':
      for (const element of node.elements) check(element.value);
      return;
    case 'String':
      return checkText(node.value);
    case 'Number':
      if (!Number.isFinite(node.value)) throw new JsonInvalid('a number is too large');
      return;
    default:
  }
}

function checkObject(members: Extract<AnyNode, { type: 'Object' }>['members']): void {
  const names = new Set<string>();
  for (const { name, value } of members) {
    const text = name.type === 'String' ? name.value : name.name;
    checkText(text);
    if (unsafeNames.has(text)) throw new JsonInvalid(`the name ${text} is not allowed`);
    if (names.has(text))
      throw new JsonInvalid(`${text.slice(0, 80).toWellFormed()} is given more than once`);
    names.add(text);
    check(value);
  }
}

function checkText(text: string): void {
  if (text.includes('\0')) throw new JsonInvalid('a text holds NUL');
  if (!text.isWellFormed()) throw new JsonInvalid('a text holds half of a surrogate pair');
}
