import sharp from 'sharp';
import t from 'tap';
import { isPictureName, picture, pictureNames, pictures } from '../../../bench/origin/pictures.ts';

for (const name of pictureNames) {
  t.test(`${name} is what the table says`, async (t) => {
    const { type, width, height, caption } = pictures[name];
    const file = await picture(name);
    const metadata = await sharp(file).metadata();
    t.equal(metadata.format, type.replace('image/', '').replace('+xml', ''));
    t.same([metadata.autoOrient.width, metadata.autoOrient.height], [width, height]);
    t.ok(caption.length > 5);

    const { channels } = await sharp(file).stats();
    const spread = channels.slice(0, 3).map((channel) => channel.stdev);
    t.ok(
      spread.every((stdev) => stdev > 15),
      `every colour varies over the picture: ${spread}`,
    );
  });
}

t.test('landscape.jpg is a large JPEG with the EXIF of a camera', async (t) => {
  const file = await picture('landscape.jpg');
  const { width, height, exif } = await sharp(file).metadata();
  t.same([width, height], [2725, 2225]);
  t.ok(file.length > 500_000, `${file.length} bytes are as many as a photograph has`);
  const text = exif?.toString('latin1') ?? '';
  for (const part of ['Sample', 'Procedural One', '2024:09:21 19:24:08']) t.match(text, part);
});

t.test('lantern.png fades from opaque to fully transparent', async (t) => {
  const { data, info } = await sharp(await picture('lantern.png'))
    .raw()
    .toBuffer({ resolveWithObject: true });
  t.equal(info.channels, 4);
  const alphas = new Set<number>();
  for (let at = 3; at < data.length; at += 4) alphas.add(data[at] ?? -1);
  t.ok(alphas.has(0) && alphas.has(255));
  t.ok(alphas.size > 150, `${alphas.size} levels of transparency`);
  t.equal(data[3], 0, 'the corner is transparent');
});

t.test('portrait-rotated.jpg lies on its side and says so', async (t) => {
  const file = await picture('portrait-rotated.jpg');
  const { width, height, orientation } = await sharp(file).metadata();
  t.same([width, height, orientation], [2400, 1800, 6]);
  const upright = await sharp(file).autoOrient().toBuffer();
  const blueAt = async (top: number): Promise<number> => {
    const strip = sharp(upright).extract({ left: 0, top, width: 1800, height: 200 });
    const { channels } = await sharp(await strip.toBuffer()).stats();
    return channels[2]?.mean ?? Number.NaN;
  };
  const [sky, ground] = await Promise.all([blueAt(0), blueAt(2200)]);
  t.ok(sky > 2 * ground, `bright sky at the top, dark hills at the bottom: ${sky}, ${ground}`);
});

t.test('pulse.gif is a smooth endless loop', async (t) => {
  const file = await picture('pulse.gif');
  const { pages = 0, loop, delay, pageHeight } = await sharp(file, { animated: true }).metadata();
  t.ok(pages >= 12, `${pages} frames`);
  t.equal(loop, 0);
  t.equal(pageHeight, 420);
  t.ok(delay?.every((milliseconds) => milliseconds > 20 && milliseconds < 150));
  t.ok(file.length < 1_000_000);
  const frames = await Promise.all(
    Array.from({ length: pages }, (_, page) =>
      sharp(file, { page }).removeAlpha().raw().toBuffer(),
    ),
  );
  const steps = frames.map((frame, index) => difference(frame, frames[(index + 1) % pages]));
  const [last = 0] = steps.slice(-1);
  t.ok(Math.min(...steps) > 0.5, 'every frame moves');
  t.ok(
    last < 1.3 * Math.max(...steps.slice(0, -1)),
    'the step back to the start is like the others',
  );
});

t.test('emblem.svg draws vectors only and refers to nothing outside', async (t) => {
  const text = (await picture('emblem.svg')).toString();
  t.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  t.notMatch(text, /<(text|image|script|use|foreignObject)|href|url\((?!#)/);
});

t.test('only names in the table are pictures', async (t) => {
  t.ok(isPictureName('coast.jpg'));
  for (const name of ['', 'coast', 'coast.JPG', 'toString', '__proto__', 'constructor']) {
    t.notOk(isPictureName(name), name);
  }
});

/** Mean absolute difference of two frames' bytes. */
function difference(one: Buffer, other: Buffer | undefined): number {
  if (other === undefined || one.length !== other.length) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += Math.abs((one[at] ?? 0) - (other[at] ?? 0));
  return sum / one.length;
}
