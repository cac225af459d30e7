import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { type FrontEnd, imageOf, Machine, type Rendering } from './machine.ts';

/** A machine of three front ends. */
function machine() {
  const all = new Machine(3);
  return { all, a: all.frontEnd(0), b: all.frontEnd(1), c: all.frontEnd(2) };
}

function onlyRendering({ renderings }: Machine): Rendering {
  const [first, second] = renderings;
  if (first === undefined || second !== undefined) {
    throw new Error(`${renderings.length} renders are under way, not one`);
  }
  return first;
}

/** Front ends that join for a key in turn; the first one leads. */
async function wanting(all: Machine, ...frontEnds: FrontEnd[]): Promise<Promise<unknown>[]> {
  const waiting: Promise<unknown>[] = [];
  for (const one of frontEnds) {
    waiting.push(one.get('k').catch((error: unknown) => error));
    await all.deliverAll();
  }
  return waiting;
}

t.test('a machine renders a key once for all participants', async (t) => {
  const { all, a, b, c } = machine();
  const waiting = await wanting(all, a, b, c, b);
  t.equal(all.coalescer.size, 1);
  onlyRendering(all).finish();
  await all.deliverAll();
  for (const image of await Promise.all(waiting)) t.same(image, imageOf('k'));
  t.equal(all.coalescer.size, 0);
  for (const one of all.frontEnds) t.equal(await all.openJoins(one), 0);
});

t.test('different keys do not wait for each other', async (t) => {
  const { all, a, b } = machine();
  const first = a.get('k');
  const second = b.get('l');
  await all.deliverAll();
  t.same(
    all.renderings.map(({ key, frontEnd }) => [key, frontEnd]),
    [
      ['k', 0],
      ['l', 1],
    ],
  );
  for (const rendering of all.renderings) rendering.finish();
  await all.deliverAll();
  t.same(await Promise.all([first, second]), [imageOf('k'), imageOf('l')]);
});

t.test('all participants get an error of the work', async (t) => {
  const { all, a, b, c } = machine();
  const waiting = await wanting(all, a, b, c);
  onlyRendering(all).finish(new ServiceError('source_not_found', 'It is not there.'));
  await all.deliverAll();
  for (const error of await Promise.all(waiting)) {
    t.match(error, { code: 'source_not_found', message: 'It is not there.' });
    t.ok(error instanceof ServiceError);
  }
  t.equal(all.coalescer.size, 0);
});

t.test('an overloaded leader hands over to a follower', async (t) => {
  const { all, a, b, c } = machine();
  const [first, ...others] = await wanting(all, a, b, c);
  onlyRendering(all).finish(new ServiceError('overloaded', 'Too much to do.'));
  await all.deliverAll();
  t.match(await first, { code: 'overloaded' });
  t.equal(onlyRendering(all).frontEnd, 1, 'the one that waited longest');
  onlyRendering(all).finish();
  await all.deliverAll();
  for (const image of await Promise.all(others)) t.same(image, imageOf('k'));
});

t.test('the next follower replaces a leader that dies', async (t) => {
  const { all, a, b, c } = machine();
  const [, ...others] = await wanting(all, a, b, c);
  all.kill(a);
  await all.deliverAll();
  t.equal(onlyRendering(all).frontEnd, 1);
  all.kill(b);
  await all.deliverAll();
  t.equal(onlyRendering(all).frontEnd, 2);
  onlyRendering(all).finish();
  await all.deliverAll();
  t.same(await others[1], imageOf('k'));
  t.equal(all.coalescer.size, 0);
});

t.test('a leader dies between render-succeeded and its image', async (t) => {
  const { all, a, b } = machine();
  const [, other] = await wanting(all, a, b);
  onlyRendering(all).finish();
  await new Promise((resolve) => setImmediate(resolve));
  for (const land of a.writes.splice(0)) land();
  t.ok(all.deliverToPrimary(a), 'it reports success');
  all.kill(a);
  await all.deliverAll();
  t.equal(onlyRendering(all).frontEnd, 1);
  onlyRendering(all).finish();
  await all.deliverAll();
  t.same(await other, imageOf('k'));
});

t.test('a follower that dies leaves no render', async (t) => {
  const { all, a, b } = machine();
  const [first] = await wanting(all, a, b);
  all.kill(b);
  onlyRendering(all).finish();
  await all.deliverAll();
  t.same(await first, imageOf('k'));
  t.equal(all.coalescer.size, 0);
});

t.test('late messages of a dead front end have no effect', async (t) => {
  const { all, a, b } = machine();
  a.get('k').catch(() => {});
  all.kill(a);
  t.ok(all.deliverToPrimary(a), 'the retained image arrives');
  t.equal(all.coalescer.size, 0);
  const wanted = b.get('k');
  await all.deliverAll();
  t.equal(onlyRendering(all).frontEnd, 1, 'no request waits for a dead process');
  onlyRendering(all).finish();
  await all.deliverAll();
  t.same(await wanted, imageOf('k'));
});

t.test('a join during the hand-over of the image gets it too', async (t) => {
  const { all, a, b, c } = machine();
  const waiting = await wanting(all, a, b);
  onlyRendering(all).finish();
  await new Promise((resolve) => setImmediate(resolve));
  for (const land of a.writes.splice(0)) land();
  t.ok(all.deliverToPrimary(a));
  waiting.push(c.get('k'));
  t.ok(all.deliverToPrimary(c));
  await all.deliverAll();
  for (const image of await Promise.all(waiting)) t.same(image, imageOf('k'));
  t.equal(all.coalescer.size, 0);
});

t.test('the image is sent only to processes that wait for it', async (t) => {
  const { all, a, b } = machine();
  const sent: unknown[] = [];
  const push = a.toPrimary.push.bind(a.toPrimary);
  a.toPrimary.push = (...messages) => {
    sent.push(...messages);
    return push(...messages);
  };
  await wanting(all, a);
  onlyRendering(all).finish();
  await all.deliverAll();
  t.notOk(sent.some((message) => JSON.stringify(message).includes('image/png')));
  await wanting(all, a, b);
  onlyRendering(all).finish();
  await all.deliverAll();
  t.ok(sent.some((message) => JSON.stringify(message).includes('image/png')));
});

t.test('mayBeStored is set when another front end has stored the image', async (t) => {
  const { all, a, b, c } = machine();
  const first = a.get('k');
  await all.deliverAll();
  t.same(a.looked, [false], 'no cache had it');
  onlyRendering(all).finish();
  await all.deliverAll();
  await first;
  const second = b.get('k');
  const other = c.get('l');
  await all.deliverAll();
  t.same(b.looked, [true], 'it may have looked before the image was stored');
  t.same(c.looked, [false]);
  const waiting = a.get('l');
  await all.deliverAll();
  all.kill(c);
  await all.deliverAll();
  t.same(a.looked, [false, true], 'the leader may have died after it had stored the image');
  for (const rendering of all.renderings) rendering.finish();
  await all.deliverAll();
  t.same(await Promise.all([second, waiting]), [imageOf('k'), imageOf('l')]);
  other.catch(() => {});
});
