import t from 'tap';
import { FairShare } from '../../pool/fair-share.ts';

const owner = (project: string, host = 'h') => ({ project, host });

/** How much an owner gets that takes one after the other. */
function takeAll(share: FairShare, who: ReturnType<typeof owner>): number {
  let taken = 0;
  while (share.take(who, 1)) taken += 1;
  return taken;
}

t.test('one owner may hold three quarters, two three sevenths each, and some stays free', (t) => {
  const alone = new FairShare(64, 4);
  t.equal(takeAll(alone, owner('a')), 48);
  t.equal(takeAll(alone, owner('b', 'i')), 12, 'three quarters of the rest');
  const two = new FairShare(70, 1);
  const both = [owner('a', 'a'), owner('b', 'b')];
  while (both.filter((one) => two.take(one, 1)).length > 0);
  t.equal(two.held, 60);
  const many = new FairShare(64, 4);
  for (let i = 0; i < 20; i++) takeAll(many, owner(`p${i}`, `h${i}`));
  t.ok(many.held <= 64);
  t.end();
});

t.test('many projects with one host share the limit of the host', (t) => {
  const share = new FairShare(64, 1);
  for (let i = 0; i < 3; i++) takeAll(share, owner(`p${i}`));
  t.ok(share.held <= 50, `${share.held}`);
  t.end();
});

t.test('one project cannot use up the host of another', (t) => {
  const share = new FairShare(64, 4);
  t.equal(takeAll(share, owner('a', 'shop')), 48);
  t.equal(takeAll(share, owner('b', 'shop')), 4, 'it gets what is guaranteed');
  t.end();
});

t.test('small limits allow one', (t) => {
  for (const [limit, own] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
  ] as const) {
    t.equal(takeAll(new FairShare(limit, 1), owner('a')), own);
  }
  t.end();
});

t.test('released amounts are free, and their owners removed', (t) => {
  const share = new FairShare(100, 10);
  for (let i = 0; i < 1_000; i++) {
    const who = owner(`p${i}`, `h${i}`);
    if (!share.take(who, 60)) t.fail('refused');
    share.add(who, 500);
    if (share.take(owner('other'), 1)) t.fail('beyond the limit nothing is free');
    share.release(who, 560);
  }
  t.equal(share.held, 0);
  t.equal(share.owners, 0);
  t.end();
});
