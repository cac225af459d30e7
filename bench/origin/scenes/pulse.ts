import sharp from 'sharp';

const SIZE = 420;
const FRAMES = 20;
const DOTS = 330;
/** The angle at which a sunflower sets its seeds. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Waves that run out over a sunflower of dots, 420 x 420, 20 frames that loop, as GIF. */
export async function paintPulse(): Promise<Buffer> {
  const frames = await Promise.all(
    Array.from({ length: FRAMES }, (_, frame) =>
      sharp(Buffer.from(drawFrame(frame / FRAMES)))
        .flatten({ background: '#0b1026' })
        .raw()
        .toBuffer(),
    ),
  );
  return sharp(Buffer.concat(frames), {
    raw: { width: SIZE, height: SIZE * FRAMES, channels: 3, pageHeight: SIZE },
  })
    .gif({
      loop: 0,
      delay: Array.from({ length: FRAMES }, () => 60),
      colours: 48,
      dither: 0,
      effort: 4,
    })
    .toBuffer();
}

function drawFrame(time: number): string {
  const dots: string[] = [];
  for (let dot = 2; dot < DOTS; dot += 1) {
    const away = Math.sqrt(dot / DOTS);
    const turn = dot * GOLDEN;
    const phase = 2 * Math.PI * (time - away * 2.2) + Math.sin(turn * 3) * 0.35;
    const swell = 0.5 + 0.5 * Math.sin(phase);
    const distance = away * (SIZE / 2 - 16) * (1 + 0.018 * Math.cos(phase));
    const x = SIZE / 2 + Math.cos(turn) * distance;
    const y = SIZE / 2 + Math.sin(turn) * distance;
    const radius = (1.6 + 6.2 * swell ** 1.3) * (0.62 + 0.5 * away);
    // From gold in the middle to violet at the rim; few hues, so that one palette serves all frames.
    const hue = 42 - Math.round(away * 10) * 14;
    const lightness = 44 + Math.round(swell * 4) * 7;
    dots.push(
      `<circle cx="${x.toFixed(2)}" cy="${y.toFixed(2)}" r="${radius.toFixed(2)}" fill="hsl(${(hue + 360) % 360},88%,${lightness}%)"/>`,
    );
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE}" height="${SIZE}">${dots.join('')}</svg>`;
}
