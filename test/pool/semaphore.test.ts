import t from 'tap';
import { Semaphore } from '../../pool/semaphore.ts';

t.test('runs a limited number of tasks at a time, in order', async (t) => {
  const semaphore = new Semaphore(2);
  const { signal } = new AbortController();
  const entered: string[] = [];
  const enter = async (name: string, signalOfTask = signal) => {
    const leave = await semaphore.enter(signalOfTask);
    entered.push(name);
    return leave;
  };
  const [leaveA, leaveB] = await Promise.all([enter('a'), enter('b')]);
  const controller = new AbortController();
  const givenUp = [enter('c', controller.signal), enter('d', controller.signal)];
  const waiting = [enter('e'), enter('f')];
  controller.abort(new Error('the client left'));
  for (const task of givenUp) await t.rejects(task, /the client left/);
  await t.rejects(enter('g', controller.signal), /the client left/);
  t.same(entered, ['a', 'b']);
  leaveA();
  (await waiting[0])?.();
  (await waiting[1])?.();
  leaveB();
  t.same(entered, ['a', 'b', 'e', 'f']);
  const [again] = await Promise.all([enter('h'), enter('i')]);
  again();
  t.same(entered.slice(4), ['h', 'i'], 'cancelled tasks take no place');
});

t.test('passes on the place of a task that leaves when its turn comes', async (t) => {
  for (const turns of [0, 1, 2, 3]) {
    const semaphore = new Semaphore(1);
    const { signal } = new AbortController();
    const leave = await semaphore.enter(signal);
    const controller = new AbortController();
    const leaving = semaphore.enter(controller.signal).then(
      (leaveAgain) => leaveAgain(),
      () => {},
    );
    const next = semaphore.enter(signal);
    leave();
    for (let turn = 0; turn < turns; turn += 1) await null;
    controller.abort(new Error('the client left'));
    await leaving;
    (await next)();
    (await semaphore.enter(signal))();
    t.pass(`after ${turns} turns`);
  }
});
