import sharp from 'sharp';
import { createRandom, type Random } from './noise.ts';

const WIDTH = 1600;
const HEIGHT = 2000;
const MIDDLE = 800;
const CENTRE = 860;
const HALF_WIDTH = 430;
const HALF_HEIGHT = 390;
const RIBS = 15;

/** A lit paper lantern, 1600 x 2000, as PNG: a glow that fades into full transparency around it. */
export async function paintLantern(): Promise<Buffer> {
  const random = createRandom(12);
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
<defs>
  <radialGradient id="halo">
    <stop offset="0" stop-color="#ffb561" stop-opacity=".85"/>
    <stop offset=".45" stop-color="#ff9440" stop-opacity=".42"/>
    <stop offset=".7" stop-color="#ff7a2e" stop-opacity=".14"/>
    <stop offset=".88" stop-color="#ff6a26" stop-opacity=".03"/>
    <stop offset="1" stop-color="#ff6a26" stop-opacity="0"/>
  </radialGradient>
  <radialGradient id="paper" cx=".5" cy=".58" r=".62">
    <stop offset="0" stop-color="#fff3c4"/><stop offset=".22" stop-color="#ffd679"/>
    <stop offset=".5" stop-color="#fb8f3c"/><stop offset=".78" stop-color="#d9432a"/>
    <stop offset="1" stop-color="#8f1c22"/>
  </radialGradient>
  <linearGradient id="metal">
    <stop offset="0" stop-color="#3b1d12"/><stop offset=".22" stop-color="#a8702c"/>
    <stop offset=".42" stop-color="#f3cf7d"/><stop offset=".6" stop-color="#b37a30"/>
    <stop offset="1" stop-color="#2e150d"/>
  </linearGradient>
  <linearGradient id="silk" x2="0" y2="1">
    <stop offset="0" stop-color="#e0562e"/><stop offset=".6" stop-color="#b3262a"/>
    <stop offset="1" stop-color="#7d1624" stop-opacity=".75"/>
  </linearGradient>
  <clipPath id="body"><ellipse cx="${MIDDLE}" cy="${CENTRE}" rx="${HALF_WIDTH}" ry="${HALF_HEIGHT}"/></clipPath>
  <filter id="soft" x="-.2" y="-.2" width="1.4" height="1.4"><feGaussianBlur stdDeviation="3"/></filter>
</defs>
<ellipse cx="${MIDDLE}" cy="${CENTRE}" rx="795" ry="800" fill="url(#halo)"/>
<path d="M800 0V420" stroke="#3a2018" stroke-width="7"/>
<path d="M800 300c-46 0-70 34-70 72s30 62 70 62 70-24 70-62-24-72-70-72z" fill="none" stroke="url(#metal)" stroke-width="13"/>
${tassel(random)}
<ellipse cx="${MIDDLE}" cy="${CENTRE}" rx="${HALF_WIDTH}" ry="${HALF_HEIGHT}" fill="url(#paper)"/>
<g clip-path="url(#body)">${ribs()}${blossoms(random)}</g>
${collar(CENTRE - HALF_HEIGHT + 4, 1)}${collar(CENTRE + HALF_HEIGHT - 44, -1)}
</svg>`;
  return sharp(Buffer.from(drawing)).png({ compressionLevel: 7 }).toBuffer();
}

/** The bamboo hoops: a shadow and the light on the bulge of paper below it, flatter at the ends. */
function ribs(): string {
  const lines: string[] = [];
  for (let rib = 1; rib < RIBS; rib += 1) {
    const turn = (rib / RIBS) * Math.PI;
    const y = CENTRE - Math.cos(turn) * HALF_HEIGHT;
    const half = Math.sin(turn) * HALF_WIDTH;
    const sag = ((y - CENTRE) / HALF_HEIGHT) * 46 + 8;
    const arc = (at: number) =>
      `M${(MIDDLE - half).toFixed(1)} ${at.toFixed(1)}q${half.toFixed(1)} ${(sag * 2).toFixed(1)} ${(half * 2).toFixed(1)} 0`;
    lines.push(
      `<path d="${arc(y)}" fill="none" stroke="#7a1518" stroke-opacity=".5" stroke-width="4"/>`,
      `<path d="${arc(y + 6)}" fill="none" stroke="#ffe9b0" stroke-opacity=".34" stroke-width="7" filter="url(#soft)"/>`,
    );
  }
  return lines.join('');
}

/** A branch of plum blossom, painted on the paper in ink and red. */
function blossoms(random: Random): string {
  const branch =
    '<g fill="none" stroke="#4a1513" stroke-linecap="round" stroke-opacity=".82">' +
    '<path d="M400 1130C520 1060 600 1010 690 900S850 740 990 700" stroke-width="20"/>' +
    '<path d="M610 1000C700 985 790 990 880 950S1000 900 1060 905" stroke-width="12"/>' +
    '<path d="M720 862C700 800 710 750 760 690" stroke-width="10"/>' +
    '<path d="M880 762C930 800 990 800 1040 785" stroke-width="8"/></g>';
  const places = [
    [990, 700],
    [860, 776],
    [758, 690],
    [700, 820],
    [1040, 786],
    [1058, 905],
    [905, 938],
    [785, 985],
    [640, 950],
    [560, 1042],
  ] as const;
  const flowers = places.map(([x, y]) => {
    const size = 30 + random() * 20;
    const turn = random() * 72;
    const petals = [0, 72, 144, 216, 288].map(
      (angle) =>
        `<ellipse cy="${(-size * 0.62).toFixed(1)}" rx="${(size * 0.46).toFixed(1)}" ry="${(size * 0.54).toFixed(1)}" transform="rotate(${angle})"/>`,
    );
    const stamens = [0, 60, 120, 180, 240, 300].map(
      (angle) =>
        `<circle cy="${(-size * 0.34).toFixed(1)}" r="${(size * 0.06).toFixed(1)}" transform="rotate(${angle})"/>`,
    );
    return (
      `<g transform="translate(${x} ${y}) rotate(${turn.toFixed(1)})">` +
      `<g fill="#b5172c" stroke="#7c0f1f" stroke-opacity=".6" stroke-width="2">${petals.join('')}</g>` +
      `<g fill="#ffe08a">${stamens.join('')}<circle r="${(size * 0.13).toFixed(1)}"/></g></g>`
    );
  });
  return branch + flowers.join('');
}

function collar(y: number, up: 1 | -1): string {
  const rim = up === 1 ? y - 14 : y + 34;
  return (
    `<rect x="640" y="${y}" width="320" height="40" rx="10" fill="url(#metal)"/>` +
    `<rect x="668" y="${rim}" width="264" height="20" rx="8" fill="url(#metal)"/>` +
    `<path d="M646 ${y + 20}h308" stroke="#fff0c0" stroke-opacity=".35" stroke-width="3"/>`
  );
}

function tassel(random: Random): string {
  const threads: string[] = [];
  for (let thread = 0; thread < 110; thread += 1) {
    const part = thread / 109 - 0.5;
    const sway = (random() - 0.5) * 26;
    const length = 330 + random() * 60 - Math.abs(part) * 60;
    threads.push(
      `M${(MIDDLE + part * 52).toFixed(1)} 1420q${(part * 40 + sway).toFixed(1)} ${(length / 2).toFixed(1)} ${(part * 96 + sway * 0.5).toFixed(1)} ${length.toFixed(1)}`,
    );
  }
  return (
    '<path d="M800 1270V1370" stroke="#8c1d22" stroke-width="9"/>' +
    `<path d="${threads.join('')}" fill="none" stroke="url(#silk)" stroke-width="2.6" stroke-linecap="round"/>` +
    '<circle cx="800" cy="1345" r="27" fill="url(#metal)"/>' +
    '<path d="M766 1376q34-26 68 0l4 58q-38 14-76 0z" fill="#c8402c"/>' +
    '<path d="M762 1412h76" stroke="url(#metal)" stroke-width="10"/>'
  );
}
