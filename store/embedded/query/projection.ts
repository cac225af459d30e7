import {
  type Document,
  fieldOf,
  isArray,
  isDocument,
  isNumber,
  setField,
  type Value,
} from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { truth } from './filter.ts';
import { parsePath } from './path.ts';

export type Projection = (document: Document) => Document;

/** Fields by name: a whole field, or the part of it that the inner tree names. */
type Tree = Map<string, Tree | 'whole'>;

/**
 * Parses a projection that includes or excludes fields.
 * @throws {CommandError} 31254 when it does both, 31249 when a path lies within another, 115 for
 *   expressions and projection operators.
 */
export function parseProjection(projection: Document): Projection {
  const tree: Tree = new Map();
  let including: boolean | undefined;
  let identity: boolean | undefined;
  for (const [field, value] of Object.entries(projection)) {
    if (typeof value !== 'boolean' && !isNumber(value)) {
      throw notSupported(`the projection of '${field}' by anything but true or false`);
    }
    const wanted = truth(value);
    if (field === '_id') {
      identity = wanted;
      continue;
    }
    including ??= wanted;
    if (including !== wanted) {
      throw new CommandError(31254, `Cannot include and exclude fields at once (${field})`);
    }
    plant(tree, field);
  }
  if (including ?? identity ?? false) {
    if (identity ?? true) tree.set('_id', 'whole');
    return (document) => include(document, tree);
  }
  if (identity === false) tree.set('_id', 'whole');
  return (document) => exclude(document, tree);
}

function plant(tree: Tree, field: string): void {
  const path = parsePath(field);
  let branch = tree;
  path.forEach((name, depth) => {
    const known = branch.get(name);
    if (depth === path.length - 1) {
      if (known !== undefined) throw new CommandError(31249, `Path collision at ${field}`);
      branch.set(name, 'whole');
      return;
    }
    if (known === 'whole') throw new CommandError(31249, `Path collision at ${field}`);
    const next: Tree = known ?? new Map();
    branch.set(name, next);
    branch = next;
  });
}

function include(document: Document, tree: Tree): Document {
  const result: Document = {};
  for (const field of Object.keys(document)) {
    const wanted = tree.get(field);
    const value = fieldOf(document, field);
    if (wanted === undefined || value === undefined) continue;
    const part = wanted === 'whole' ? value : includePart(value, wanted);
    if (part !== undefined) setField(result, field, part);
  }
  return result;
}

/** What a path leads on through: documents, and arrays of them. A scalar has no part. */
function includePart(value: Value, tree: Tree): Value | undefined {
  if (isDocument(value)) return include(value, tree);
  if (!isArray(value)) return undefined;
  return value.flatMap((element) => {
    const part = includePart(element, tree);
    return part === undefined ? [] : [part];
  });
}

function exclude(document: Document, tree: Tree): Document {
  const result: Document = {};
  for (const field of Object.keys(document)) {
    const unwanted = tree.get(field);
    const value = fieldOf(document, field);
    if (unwanted === 'whole' || value === undefined) continue;
    setField(result, field, unwanted === undefined ? value : excludePart(value, unwanted));
  }
  return result;
}

function excludePart(value: Value, tree: Tree): Value {
  if (isDocument(value)) return exclude(value, tree);
  return isArray(value) ? value.map((element) => excludePart(element, tree)) : value;
}
