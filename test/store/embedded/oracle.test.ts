import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import t from 'tap';
import { type Document, decode } from '../../../store/embedded/bson/value.ts';
import { parseFilter } from '../../../store/embedded/query/filter.ts';
import { parseSort, sortDocuments } from '../../../store/embedded/query/sort.ts';
import { Collection } from '../../../store/embedded/storage/collection.ts';
import { parseIndexSpecification } from '../../../store/embedded/storage/index-specification.ts';
import { Journal } from '../../../store/embedded/storage/journal.ts';
import { shortFolder } from './folder.ts';
import { type Condition, type Json, order, passes } from './oracle.ts';

// Few names and values, so that they meet.
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1.5, '', 'a', 'b', '\u{e000}', '\u{1f600}'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
}));
const documents = fc.array(
  fc.dictionary(fc.constantFrom('a', 'b'), value, { noNullPrototype: true }),
  { maxLength: 8 },
);
const path = fc.constantFrom('a', 'b', 'a.b', 'a.b.a');
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    path,
    operator: fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'),
    operand: value,
  }),
  fc.record({
    path,
    operator: fc.constantFrom('$in', '$nin'),
    operand: fc.array(value, { maxLength: 3 }),
  }),
);

/** As a client would send it. */
const bson = (document: object): Document => decode(BSON.serialize(document));

t.test('filters find what the plain telling says, with and without an index', (t) => {
  const journal = new Journal(`${shortFolder(t)}/documents.lmdb`, () => {});
  t.teardown(() => journal.close());
  const index = (key: object) => parseIndexSpecification(bson({ key, name: JSON.stringify(key) }));
  fc.assert(
    fc.property(documents, fc.array(condition, { minLength: 1, maxLength: 2 }), (stored, asked) => {
      const plain = new Collection(1, 'a.plain', journal);
      const indexed = new Collection(2, 'a.indexed', journal);
      indexed.addIndex(index({ a: 1 }));
      indexed.addIndex(index({ 'a.b': 1 }));
      stored.forEach((fields, _id) => {
        plain.insert(bson({ _id, ...fields }));
        indexed.insert(bson({ _id, ...fields }));
      });
      const conditions = asked.map(({ path, operator, operand }) => ({
        [path]: { [operator]: operand },
      }));
      const filter = parseFilter(bson({ $and: conditions }));
      const expected = stored.flatMap((fields, _id) =>
        asked.every((each) => passes(fields, each)) ? [_id] : [],
      );
      const ids = (collection: Collection) =>
        collection.find(filter).map(({ document }) => Number(document['_id']));
      assert.deepEqual(ids(plain), expected);
      assert.deepEqual(ids(indexed), expected);
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('sorting by several fields follows the plain telling', (t) => {
  const direction = fc.constantFrom(1, -1);
  const sorts = fc.uniqueArray(fc.record({ field: fc.constantFrom('a', 'b'), direction }), {
    minLength: 1,
    maxLength: 2,
    selector: ({ field }) => field,
  });
  fc.assert(
    fc.property(documents, sorts, (stored, by) => {
      // Two arrays in one document cannot be sorted by at once.
      fc.pre(stored.every(({ a, b }) => !(Array.isArray(a) && Array.isArray(b))));
      const sort = Object.fromEntries(by.map((each) => [each.field, each.direction]));
      const sorted = sortDocuments(
        stored.map((fields, i) => ({ i, document: bson(fields) })),
        ({ document }) => document,
        parseSort(bson(sort)),
      );
      const expected = stored
        .map((fields, i) => ({ i, keys: by.map((each) => sortValue(fields[each.field], each)) }))
        .sort(
          (x, y) =>
            by
              .map((each, n) => each.direction * order(x.keys[n], y.keys[n]))
              .find((difference) => difference !== 0) ?? 0,
        );
      assert.deepEqual(
        sorted.map(({ i }) => i),
        expected.map(({ i }) => i),
      );
    }),
    { numRuns: 2000 },
  );
  t.end();
});

/** What an array is sorted by: its least element ascending, its greatest descending. */
function sortValue(value: Json | undefined, by: { direction: number }): Json | undefined {
  if (!Array.isArray(value)) return value ?? null;
  return [...value].sort((x, y) => by.direction * order(x, y))[0];
}
