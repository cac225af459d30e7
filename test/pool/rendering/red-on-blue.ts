import sharp from 'sharp';

const size = { width: 300, height: 200 };

/** Returns a PNG of red letters E and H with 2-pixel strokes on blue. */
export function redOnBlue(): Promise<Buffer> {
  return sharp(letters, { raw: { ...size, channels: 3 } })
    .png()
    .toBuffer();
}

const letters = Buffer.alloc(size.width * size.height * 3);
for (let y = 0; y < size.height; y += 1) {
  for (let x = 0; x < size.width; x += 1) {
    const [column, row, isH] = [x % 13, y % 19, Math.floor(x / 13) % 2 === 1];
    const bar = (isH ? [7] : [3, 7, 12]).some((top) => row === top || row === top + 1);
    const upright = column < 2 || (isH && (column === 7 || column === 8));
    const isInk = row > 2 && row < 14 && column < 9 && (upright || bar);
    letters.set(isInk ? [255, 0, 0] : [0, 0, 255], (y * size.width + x) * 3);
  }
}

/** Returns the mean difference in red and blue from `redOnBlue`, in levels. */
export async function redAndBlueError(body: Uint8Array): Promise<number> {
  const found = await sharp(body).removeAlpha().raw().toBuffer();
  let sum = 0;
  for (let at = 0; at < letters.length; at += 3) {
    for (const channel of [at, at + 2]) {
      sum += Math.abs((letters[channel] ?? 0) - (found[channel] ?? 0));
    }
  }
  return sum / (size.width * size.height * 2);
}
