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
const above = fc.constantFrom<Json>(true, false, 0, 1, -1, 1.5, '', 'a', '\u{e000}', '\u{1f600}');
const scalar = fc.oneof(fc.constant<Json>(null), above);
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
}));
const documentsOf = (value: fc.Arbitrary<Json>) =>
  fc.array(fc.dictionary(fc.constantFrom('a', 'b'), value, { noNullPrototype: true }), {
    maxLength: 8,
  });
const path = fc.constantFrom('a', 'b', 'a.b', 'a.b.a');
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ path, operator: fc.constantFrom('$eq', '$ne'), operand: value }),
  fc.record({ path, operator: fc.constantFrom('$gt', '$gte', '$lt', '$lte'), operand: above }),
  fc.record({
    path,
    operator: fc.constant('$in'),
    operand: fc.array(value, { maxLength: 3 }),
  }),
);
const conditions = fc.uniqueArray(condition, {
  minLength: 1,
  maxLength: 2,
  selector: (each) => each.path,
});

/** As a client would send it. */
const bson = (document: object): Document => decode(BSON.serialize(document));

t.test('filters find what the plain telling says, with and without an index', (t) => {
  const journal = new Journal(`${shortFolder(t)}/documents.lmdb`, () => {});
  t.teardown(() => journal.close());
  const index = (key: object) => parseIndexSpecification(bson({ key, name: JSON.stringify(key) }));
  fc.assert(
    fc.property(documentsOf(value), conditions, fc.boolean(), (stored, asked, either) => {
      const plain = new Collection(1, 'a.plain', journal);
      const indexed = new Collection(2, 'a.indexed', journal);
      indexed.addIndex(indexed.buildIndex(index({ a: 1 })));
      indexed.addIndex(indexed.buildIndex(index({ 'a.b': 1 })));
      stored.forEach((fields, _id) => {
        plain.insert(bson({ _id, ...fields }));
        indexed.insert(bson({ _id, ...fields }));
      });
      const parts = asked.map(({ path, operator, operand }) => ({
        [path]: { [operator]: operand },
      }));
      const anyOf = either && asked.length > 1;
      const filter = parseFilter(bson(anyOf ? { $or: parts } : Object.assign({}, ...parts)));
      const expected = stored.flatMap((fields, _id) => {
        const outcomes = asked.map((each) => passes(fields, each));
        return (anyOf ? outcomes.includes(true) : !outcomes.includes(false)) ? [_id] : [];
      });
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
    fc.property(documentsOf(scalar), sorts, (stored, by) => {
      const sort = Object.fromEntries(by.map((each) => [each.field, each.direction]));
      const sorted = sortDocuments(
        stored.map((fields, i) => ({ i, document: bson(fields) })),
        ({ document }) => document,
        parseSort(bson(sort)),
      );
      const expected = stored
        .map((fields, i) => ({ i, keys: by.map((each) => fields[each.field] ?? null) }))
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
