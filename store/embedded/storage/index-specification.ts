import { Int32 } from 'bson';
import { readArguments } from '../arguments.ts';
import type { Document } from '../bson/value.ts';
import { notSupported, ReplyError } from '../errors.ts';
import { type Path, parsePath } from '../query/path.ts';
import { parseDirection } from '../query/sort.ts';
import { statementShapes } from '../supported.ts';

export interface IndexSpecification {
  readonly name: string;
  readonly key: Document;
  /** Same order as the indexed fields. */
  readonly paths: readonly Path[];
  /** 1 ascending, -1 descending; same order as the paths. */
  readonly directions: readonly number[];
  /** Path of the first field, the only one of a unique, sparse or TTL index. */
  readonly path: Path;
  readonly unique: boolean;
  /** Whether the index omits documents that lack the field. */
  readonly sparse: boolean;
  readonly expireAfterSeconds: number | null;
  /** The specification as received and stored. */
  readonly document: Document;
}

/** Every collection includes this index, so it is neither created nor stored. */
export const idSpecification: IndexSpecification = {
  name: '_id_',
  key: { _id: new Int32(1) },
  paths: [['_id']],
  directions: [1],
  path: ['_id'],
  // The collection checks that ids are unique.
  unique: false,
  sparse: false,
  expireAfterSeconds: null,
  document: {},
};

const argument = 'createIndexes.indexes';

/** The protocol's maximum of expireAfterSeconds. */
const maxExpirySeconds = 2 ** 31 - 1;

/**
 * Parses an index specification of `createIndexes`.
 * @throws {ReplyError} 67 for an invalid specification, 115 for unsupported kinds and options.
 */
export function parseIndexSpecification(document: Document): IndexSpecification {
  const given = readArguments(document, statementShapes[argument], argument);
  const { key, name, unique = false, sparse = false, expireAfterSeconds = null } = given;
  const fields = Object.entries(key);
  const paths = fields.map(([field]) => parsePath(field));
  const directions = fields.map(([field, direction]) => parseDirection(field, direction));
  const [path] = paths;
  if (path === undefined) throw new ReplyError(67, 'an index needs a key with a field');
  if (name === '') throw new ReplyError(67, 'an index needs a name');
  if (path.join('.') === '_id') throw notSupported('a second index on _id');
  if (paths.length > 1 && unique) throw notSupported('a unique index over several fields');
  if (paths.length > 1 && sparse) throw notSupported('a sparse index over several fields');
  if (paths.length > 1 && expireAfterSeconds !== null) {
    throw new ReplyError(67, 'TTL indexes are single-field indexes');
  }
  if (expireAfterSeconds !== null && expireAfterSeconds > maxExpirySeconds) {
    throw new ReplyError(67, 'expireAfterSeconds must be within an int32');
  }
  return { name, key, paths, directions, path, unique, sparse, expireAfterSeconds, document };
}
