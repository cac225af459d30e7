import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import t from 'tap';
import { type Document, decode } from '../../../store/embedded/bson/value.ts';
import { type Filter, parseFilter } from '../../../store/embedded/query/filter.ts';
import { parseSort } from '../../../store/embedded/query/sort.ts';
import { Collection } from '../../../store/embedded/storage/collection.ts';
import { parseIndexSpecification } from '../../../store/embedded/storage/index.ts';
import { propertyRuns } from '../../extended.ts';
import { type Condition, type Json, matches, order } from './oracle.ts';

// Few names and values, so that many are equal.
const nonNull = fc.constantFrom<Json>(true, false, 0, 1, -1, 1.5, '', 'a', '\u{e000}', '\u{1f600}');
const scalar = fc.oneof(fc.constant<Json>(null), nonNull);
const arbitraryFields = (value: fc.Arbitrary<Json>) =>
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { maxKeys: 3, noNullPrototype: true });
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    arbitraryFields(tie('value')),
  ),
}));
const path = fc.constantFrom('a', 'b', 'c', 'a.b', 'a.b.a');
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ path, operator: fc.constant('$ne'), operand: value }),
  fc.record({ path, operator: fc.constantFrom('$gt', '$gte', '$lt', '$lte'), operand: nonNull }),
  fc.record({ path, operator: fc.constant('$in'), operand: fc.array(value, { maxLength: 3 }) }),
);
const sort = fc.uniqueArray(
  fc.record({ field: fc.constantFrom('a', 'b', 'c'), direction: fc.constantFrom(1, -1) }),
  { minLength: 1, maxLength: 2, selector: ({ field }) => field },
);
const arbitraryDocuments = (value: fc.Arbitrary<Json>) =>
  fc.array(arbitraryFields(value), { maxLength: 20 });
const query = fc.record({
  conditions: fc.array(condition, { minLength: 1, maxLength: 4 }),
  any: fc.boolean(),
  limit: fc.constantFrom(3, 100),
  /** Positions of documents to replace or remove. */
  changed: fc.array(fc.nat(19)),
});
// The store does not sort arrays and documents.
const contents = fc.oneof(
  fc.record({ stored: arbitraryDocuments(scalar), sort, isScalar: fc.constant(true) }),
  fc.record({
    stored: arbitraryDocuments(value),
    sort: fc.constant([]),
    isScalar: fc.constant(false),
  }),
);

/** Serialises a document like a client. */
const bson = (document: object): Document => decode(BSON.serialize(document));

function addIndex(collection: Collection, key: object, options: object = {}): void {
  const specification = bson({ key, name: JSON.stringify(key), ...options });
  collection.addIndex(parseIndexSpecification(specification));
}

const newCollection = () => new Collection('a.items', () => {});

const byId = parseSort(bson({ _id: 1 }));

t.test("returns the simple implementation's results, with and without indexes", (t) => {
  const check = fc.property(contents, query, ({ stored, sort, isScalar }, request) => {
    const [plain, indexed] = [newCollection(), newCollection()];
    // An index accepts no arrays and documents.
    const collections = isScalar ? [plain, indexed] : [plain];
    const expected = new Map(stored.map((fields, _id) => [_id, fields]));
    addIndex(indexed, { a: 1, b: 1, c: -1 });
    for (const [_id, fields] of expected) {
      for (const collection of collections) collection.insert(bson({ _id, ...fields }));
    }
    addIndex(indexed, { c: 1 }, { sparse: true });
    addIndex(indexed, { 'a.b': 1 });
    for (const [i, at] of request.changed.entries()) {
      const _id = [...expected.keys()][at];
      const fields = stored[(at + 1) % stored.length];
      if (_id === undefined || fields === undefined) continue;
      for (const collection of collections) {
        const [entry] = collection.find(parseFilter(bson({ _id })));
        if (entry === undefined) throw new Error(`${_id} is missing`);
        if (i % 3 === 0) collection.remove(entry);
        else collection.replace(entry, bson({ _id, ...fields }));
      }
      if (i % 3 === 0) expected.delete(_id);
      else expected.set(_id, fields);
    }

    const all: Record<string, Record<string, Json>> = {};
    for (const { path, operator, operand } of request.conditions) {
      all[path] = { ...all[path], [operator]: operand };
    }
    const conditions = Object.entries(all).flatMap(([path, operators]) =>
      Object.entries(operators).map(([operator, operand]) => ({ path, operator, operand })),
    );
    const parts = conditions.map(({ path, operator, operand }) => ({
      [path]: { [operator]: operand },
    }));
    const any = request.any && parts.length > 1;
    const filter = parseFilter(bson(any ? { $or: parts } : all));
    const ids = [...expected].flatMap(([_id, fields]) => {
      const results = conditions.map((each) => matches(fields, each));
      return (any ? results.includes(true) : !results.includes(false)) ? [_id] : [];
    });
    const toKeys = (id: number) => sort.map(({ field }) => expected.get(id)?.[field] ?? null);
    const compare = (left: Json[], other: Json[]) =>
      sort
        .map(({ direction }, i) => direction * order(left[i] ?? null, other[i] ?? null))
        .find((difference) => difference !== 0) ?? 0;
    const sorted = ids.map(toKeys).sort(compare).slice(0, request.limit);
    const sortOrder = parseSort(
      bson(Object.fromEntries(sort.map(({ field, direction }) => [field, direction]))),
    );
    for (const collection of collections) {
      const toId = ({ document }: { document: Document }) => Number(document['_id']);
      assert.deepEqual(collection.find(filter).map(toId), ids);
      assert.equal(collection.count(filter), ids.length);
      const found = collection.find(filter, sortOrder, request.limit).map(toId);
      assert.deepEqual(found.map(toKeys), sorted);
      assert.equal(new Set(found).size, found.length);
      assert.ok(found.every((id) => ids.includes(id)));
      const first = collection.find(filter, byId, request.limit).map(toId);
      assert.deepEqual(first, ids.slice(0, request.limit));
    }
  });
  fc.assert(check, { numRuns: propertyRuns(3000) });
  t.end();
});

t.test('sorts and counts by an index and does not read the documents', (t) => {
  const jobs = newCollection();
  addIndex(jobs, { name: 1, turn: 1 });
  const count = 2_000;
  for (let i = 0; i < count; i += 1) {
    jobs.insert(bson({ _id: i, name: 'job', turn: count - i }));
    jobs.insert(bson({ _id: count + i, name: i % 2 === 0 ? 'job' : 'other' }));
  }
  let read = 0;
  const counted = (conditions: object): Filter => {
    const filter = parseFilter(bson(conditions));
    read = 0;
    const matches = (document: Document) => {
      read += 1;
      return filter.matches(document);
    };
    return { ...filter, matches };
  };
  const waiting = { name: 'job', turn: { $gte: 0 } };
  const next = counted({ ...waiting, disabled: { $ne: true } });
  const found = jobs.find(next, parseSort(bson({ turn: 1 })), 1);
  t.match(found, [{ document: { _id: count - 1 } }]);
  t.equal(read, 1, 'the first of all');
  t.equal(jobs.count(counted(waiting)), count);
  t.equal(read, 0, 'a count');
  t.equal(jobs.count(counted({ name: 'job', turn: { $gt: 10, $lte: 15 } })), 5);
  t.equal(read, 0, 'a count within bounds');

  const page = jobs.find(counted({}), byId, 3);
  t.match(page, [{ document: { _id: 0 } }, {}, { document: { _id: 2 } }]);
  t.equal(read, 3, 'the first page in the order of ids');
  t.match(jobs.find(counted({ _id: { $gt: 2_500 } }), byId, 1), [{ document: { _id: 2_501 } }]);
  t.equal(read, 1, 'a later page');
  t.end();
});
