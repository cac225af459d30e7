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

// Few names and values, so that many are equal.
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

t.test('filters find the same as the simple implementation, with and without an index', (t) => {
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

t.test('compound and sparse indexes do not change filters, orders and counts', (t) => {
  const journal = new Journal(`${shortFolder(t)}/documents.lmdb`, () => {});
  t.teardown(() => journal.close());
  const index = (key: object, more: object = {}) =>
    parseIndexSpecification(bson({ key, name: JSON.stringify(key), ...more }));
  const field = fc.constantFrom('a', 'b', 'c');
  const asked = fc.array(
    fc.oneof(
      fc.record({ field, operator: fc.constantFrom('$eq', '$ne'), operand: scalar }),
      fc.record({ field, operator: fc.constantFrom('$gt', '$gte', '$lt', '$lte'), operand: above }),
      fc.record({
        field,
        operator: fc.constant('$in'),
        operand: fc.array(scalar, { maxLength: 3 }),
      }),
    ),
    { minLength: 1, maxLength: 4 },
  );
  const direction = fc.constantFrom(1, -1);
  const sort = fc.dictionary(fc.constantFrom('b', 'c'), direction, { noNullPrototype: true });
  const documents = (value: fc.Arbitrary<Json>) =>
    fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true }), {
      maxLength: 30,
    });
  // The store does not sort arrays and documents.
  const cases = fc.oneof(
    fc.record({ stored: documents(scalar), asked, sort }),
    fc.record({ stored: documents(value), asked, sort: fc.constant({}) }),
  );
  fc.assert(
    fc.property(cases, fc.array(fc.nat(29)), ({ stored, asked, sort }, changed) => {
      const plain = new Collection(1, 'a.plain', journal);
      const indexed = new Collection(2, 'a.indexed', journal);
      const indexes = [index({ a: 1, b: 1, c: -1 }), index({ c: 1 }, { sparse: true })];
      const [first] = indexes;
      if (first !== undefined) indexed.addIndex(indexed.buildIndex(first));
      stored.forEach((fields, _id) => {
        plain.insert(bson({ _id, ...fields }));
        indexed.insert(bson({ _id, ...fields }));
      });
      // The second index is built from existing documents; then some change or are removed.
      for (const each of indexes.slice(1)) indexed.addIndex(indexed.buildIndex(each));
      for (const [i, at] of changed.entries()) {
        for (const collection of [plain, indexed]) {
          const entry = [...collection.entries()][at];
          if (entry === undefined) continue;
          const { _id } = entry.document;
          if (i % 3 === 0) collection.remove(entry);
          else collection.replace(entry, bson({ _id, ...stored[(at + 1) % stored.length] }));
        }
      }
      const conditions: Record<string, Record<string, Json>> = {};
      for (const { field, operator, operand } of asked) {
        conditions[field] = { ...conditions[field], [operator]: operand };
      }
      const filter = parseFilter(bson(conditions));
      const order = parseSort(bson(sort));
      const all = plain.find(filter).map(({ document }) => document);
      assert.deepEqual(
        indexed.find(filter).map(({ document }) => document),
        all,
      );
      assert.equal(indexed.count(filter), all.length);
      const keys = (documents: Document[]) =>
        documents.map((document) =>
          Object.keys(sort).map((name) => String(document[name] ?? null)),
        );
      const sorted = sortDocuments(all, (document) => document, order);
      const found = indexed.search(filter, order, 3).map(({ document }) => document);
      assert.deepEqual(keys(found), keys(sorted.slice(0, 3)));
      const ids = new Set(all.map(({ _id }) => Number(_id)));
      assert.ok(found.every(({ _id }) => ids.delete(Number(_id))));
    }),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('an index sorts and counts without reading the documents', (t) => {
  const journal = new Journal(`${shortFolder(t)}/documents.lmdb`, () => {});
  t.teardown(() => journal.close());
  const jobs = new Collection(1, 'a.jobs', journal);
  const key = { name: 1, turn: 1 };
  jobs.addIndex(jobs.buildIndex(parseIndexSpecification(bson({ key, name: 'turns' }))));
  const count = 2_000;
  for (let i = 0; i < count; i += 1) {
    jobs.insert(bson({ _id: i, name: 'job', turn: count - i }));
    jobs.insert(bson({ _id: count + i, name: i % 2 === 0 ? 'job' : 'other' }));
  }
  let looked = 0;
  const counted = (conditions: object) => {
    const filter = parseFilter(bson(conditions));
    looked = 0;
    const passes = (document: Document) => {
      looked += 1;
      return filter.passes(document);
    };
    return { ...filter, passes };
  };
  const waiting = { name: 'job', turn: { $gte: 0 } };
  const order = parseSort(bson({ turn: 1 }));
  const claim = counted({ ...waiting, disabled: { $ne: true } });
  t.match(jobs.search(claim, order, 1), [{ document: { _id: { value: count - 1 } } }]);
  t.equal(looked, 1, 'the first of all');
  t.equal(jobs.count(counted(waiting)), count);
  t.equal(looked, 0, 'a count');
  t.equal(jobs.count(counted({ name: 'job', turn: { $gt: 10, $lte: 15 } })), 5);
  t.equal(looked, 0, 'a count within bounds');
  t.end();
});

t.test('sorting by several fields is the same as in the simple implementation', (t) => {
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
