import t from 'tap';
import {
  areaText,
  drawArea,
  type Grip,
  grips,
  isBeyondSource,
  moveArea,
  movePoint,
  pointText,
  readArea,
  readPoint,
} from '../../../server/console/page/playground/area.ts';

const source = { width: 1000, height: 500 };
const whole = { left: 0, top: 0, width: 1000, height: 500 };
const [all, topLeft, topRight, bottomLeft, bottomRight] = grips as [Grip, Grip, Grip, Grip, Grip];

t.test('reads the crop within the source, and the whole source for other texts', async (t) => {
  t.same(readArea('100,80,400,300', source), { left: 100, top: 80, width: 400, height: 300 });
  t.same(readArea('100_80_400_300', source), { left: 100, top: 80, width: 400, height: 300 });
  t.same(readArea('0.1,0.2,0.5,0.5', source), { left: 100, top: 100, width: 500, height: 250 });
  t.same(readArea('900,400,400,300', source), { left: 900, top: 400, width: 100, height: 100 });
  for (const text of ['', '1,2,3', '1000,0,10,10', '0,500,10,10', '0,0,0,10', '-1,0,10,10', 'a']) {
    t.same(readArea(text, source), whole, text);
  }
});

t.test('tells a crop beyond the source', async (t) => {
  for (const [text, isBeyond] of [
    ['', false],
    ['a', false],
    ['0,0,1000,500', false],
    ['900_400_100_100', false],
    ['1,0,1000,500', true],
    ['0,1,1000,500', true],
    ['2000,0,10,10', true],
  ] as const) {
    t.equal(isBeyondSource(text, source), isBeyond, text);
  }
});

t.test('draws an area between two points within the source', async (t) => {
  const drawn = { left: 250, top: 125, width: 250, height: 250 };
  t.same(drawArea({ x: 0.25, y: 0.25 }, 0.25, 0.5, source), drawn);
  t.same(drawArea({ x: 0.5, y: 0.75 }, -0.25, -0.5, source), drawn, 'in any direction');
  t.same(drawArea({ x: 0.5, y: 0.5 }, 9, -9, source), {
    left: 500,
    top: 0,
    width: 500,
    height: 250,
  });
  t.same(drawArea({ x: 1, y: 1 }, 0, 0, source), { left: 999, top: 499, width: 1, height: 1 });
});

t.test('writes no crop for the whole source', async (t) => {
  t.equal(areaText(whole, source), '');
  t.equal(areaText({ left: 1, top: 2, width: 3, height: 4 }, source), '1,2,3,4');
});

t.test('moves an area within the source', async (t) => {
  const area = { left: 100, top: 80, width: 400, height: 300 };
  t.same(moveArea(area, all, 0.1, -0.1, source), { ...area, left: 200, top: 30 });
  t.same(moveArea(area, all, 9, 9, source), { ...area, left: 600, top: 200 });
  t.same(moveArea(area, all, -9, -9, source), { ...area, left: 0, top: 0 });
  t.same(moveArea(area, all, 0, 0, source), area);
  const tiny = { width: 20, height: 20 };
  const part = { left: 0, top: 0, width: 10, height: 10 };
  t.same(moveArea(part, all, 0.01, 0, tiny), { ...part, left: 1 }, 'the shortest step is a pixel');
});

t.test('moves a corner, and keeps the opposite one', async (t) => {
  const area = { left: 100, top: 100, width: 400, height: 300 };
  for (const [corner, dx, dy, moved] of [
    [topLeft, 0.1, 0.1, { left: 200, top: 150, width: 300, height: 250 }],
    [topRight, 0.1, 0.1, { left: 100, top: 150, width: 500, height: 250 }],
    [bottomLeft, -0.1, 0.1, { left: 0, top: 100, width: 500, height: 350 }],
    [bottomRight, 9, 9, { left: 100, top: 100, width: 900, height: 400 }],
    [topLeft, 9, 9, { left: 499, top: 399, width: 1, height: 1 }],
    [bottomRight, -9, -9, { left: 100, top: 100, width: 1, height: 1 }],
    [topLeft, -9, -9, { left: 0, top: 0, width: 500, height: 400 }],
  ] as const) {
    t.same(moveArea(area, corner, dx, dy, source), moved);
  }
});

t.test('reads, moves and writes a focal point', async (t) => {
  t.same(readPoint('0.7,0.3'), { x: 0.7, y: 0.3 });
  t.same(readPoint('0.7_0.3'), { x: 0.7, y: 0.3 });
  for (const text of ['', '0.5', '2,0', '0.1,0.2,0.3', 'a,b', ',']) {
    t.same(readPoint(text), { x: 0.5, y: 0.5 }, text);
  }
  t.equal(pointText(movePoint({ x: 0.7, y: 0.3 }, 0.01, -0.1)), '0.71,0.2');
  t.equal(pointText(movePoint({ x: 0.7, y: 0.3 }, 9, -9)), '1,0');
});
