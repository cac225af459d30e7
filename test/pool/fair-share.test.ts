import t from 'tap';
import { FairShare } from '../../pool/fair-share.ts';

const owner = (project: string, host = 'h') => ({ project, host });

/** Returns how much an owner gets by taking one unit after another. */
function takeAll(share: FairShare, who: ReturnType<typeof owner>): number {
  let taken = 0;
  while (share.take(who, 1)) taken += 1;
  return taken;
}

t.test(
  'limits one owner to three quarters and two to three sevenths each, and keeps some free',
  (t) => {
    const alone = new FairShare(64, 4);
    t.equal(takeAll(alone, owner('a')), 48);
    t.equal(takeAll(alone, owner('b')), 4, 'the guaranteed amount, at the same host');
    t.equal(takeAll(alone, owner('b', 'i')), 8, 'with them three quarters of the rest');
    const two = new FairShare(70, 1);
    const both = [owner('a', 'a'), owner('b', 'b')];
    while (both.filter((item) => two.take(item, 1)).length > 0);
    t.equal(two.held, 60);
    const oneHost = new FairShare(64, 1);
    for (let i = 0; i < 3; i++) takeAll(oneHost, owner(`p${i}`));
    t.ok(oneHost.held <= 50, `the limit of the host: ${oneHost.held}`);
    for (const [limit, own] of [1, 1, 2, 3].entries()) {
      t.equal(takeAll(new FairShare(limit + 1, 1), owner('a')), own, `a limit of ${limit + 1}`);
    }
    t.end();
  },
);

t.test('frees released amounts and removes their owners', (t) => {
  const share = new FairShare(100, 10);
  for (let i = 0; i < 1_000; i++) {
    const who = owner(`p${i}`, `h${i}`);
    if (!share.take(who, 60)) t.fail('refused');
    share.add(who, 500);
    if (share.take(owner('other'), 1)) t.fail('beyond the limit nothing is free');
    share.release(who, 560);
  }
  t.same([share.held, share.owners, share.rejected], [0, 0, 1_000]);
  t.end();
});
