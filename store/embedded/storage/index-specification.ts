import { readArguments } from '../arguments.ts';
import type { Document } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import { type Path, parsePath } from '../query/path.ts';
import { directionOf } from '../query/sort.ts';
import { STATEMENTS } from '../supported.ts';

export interface IndexSpecification {
  readonly name: string;
  readonly key: Document;
  /** Of the first field, by which the index finds. */
  readonly path: Path;
  readonly unique: boolean;
  readonly expireAfterSeconds: number | null;
  /** As it was given and is stored. */
  readonly document: Document;
}

const WHERE = 'createIndexes.indexes';

/** The protocol's bound on expireAfterSeconds. */
const MAX_EXPIRY_SECONDS = 2 ** 31 - 1;

/**
 * Parses the specification that `createIndexes` gives.
 * @throws {CommandError} 67 for what no index can be, 115 for kinds and options not supported.
 */
export function parseIndexSpecification(document: Document): IndexSpecification {
  const given = readArguments(document, STATEMENTS[WHERE], WHERE);
  const { key, name, unique = false, expireAfterSeconds = null } = given;
  const fields = Object.entries(key);
  const paths = fields.map(([field, direction]) => {
    directionOf(field, direction);
    return parsePath(field);
  });
  const [path] = paths;
  if (path === undefined) throw new CommandError(67, 'an index needs a key with a field');
  if (name === '') throw new CommandError(67, 'an index needs a name');
  if (path.join('.') === '_id') throw notSupported('an index on _id besides that which there is');
  if (paths.length > 1 && unique) throw notSupported('a unique index over several fields');
  if (paths.length > 1 && expireAfterSeconds !== null) {
    throw new CommandError(67, 'TTL indexes are single-field indexes');
  }
  if (expireAfterSeconds !== null && expireAfterSeconds > MAX_EXPIRY_SECONDS) {
    throw new CommandError(67, 'expireAfterSeconds must be within an int32');
  }
  return { name, key, path, unique, expireAfterSeconds, document };
}
