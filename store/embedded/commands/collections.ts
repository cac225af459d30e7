import type { Document } from '../bson/value.ts';
import { parseFilter } from '../query/filter.ts';
import { compile } from '../query/match.ts';
import type { Call, Reply } from './call.ts';
import { batchSizeOf, ID_INDEX } from './indexes.ts';

export function listCollections(call: Call): Reply {
  const { given } = call;
  given.ignore(call.name, 'authorizedCollections');
  const nameOnly = given.flag('nameOnly', false);
  const passes = compile(parseFilter(given.optionalDocument('filter') ?? {}));
  const cursor = given.optionalDocument('cursor');
  given.end();
  const documents = call.store.catalog
    .list(call.database)
    .map(({ namespace }): Document => {
      const name = namespace.slice(call.database.length + 1);
      if (nameOnly) return { name, type: 'collection' };
      return {
        name,
        type: 'collection',
        options: {},
        info: { readOnly: false },
        idIndex: ID_INDEX,
      };
    })
    .filter(passes);
  const namespace = `${call.database}.$cmd.listCollections`;
  return call.store.cursors.start({ namespace, documents, batchSize: batchSizeOf(cursor) });
}

export function drop(call: Call): Reply {
  const namespace = call.namespace();
  call.given.end();
  const collection = call.collection(namespace);
  if (collection === undefined) return {};
  call.store.catalog.drop(collection);
  return { nIndexesWas: collection.indexes.length + 1, ns: namespace };
}

export function dropDatabase(call: Call): Reply {
  call.given.ignore(call.name);
  call.given.end();
  for (const collection of call.store.catalog.list(call.database)) {
    call.store.catalog.drop(collection);
  }
  return { dropped: call.database };
}
