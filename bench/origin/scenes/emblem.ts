const CENTRE = 400;

/** A round badge of peaks above a lake within a woven rosette: an SVG of 800 x 800, no text in it. */
export async function drawEmblem(): Promise<Buffer> {
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="800" height="800" viewBox="0 0 800 800">
<defs>
  <linearGradient id="sky" x2="0" y2="1">
    <stop offset="0" stop-color="#1d2b64"/><stop offset=".5" stop-color="#8e4a8b"/>
    <stop offset=".78" stop-color="#f2784b"/><stop offset="1" stop-color="#fbc46d"/>
  </linearGradient>
  <linearGradient id="lake" x2="0" y2="1">
    <stop offset="0" stop-color="#f7a55f"/><stop offset=".35" stop-color="#9c4f86"/><stop offset="1" stop-color="#1a2357"/>
  </linearGradient>
  <linearGradient id="gold" x2="1" y2="1">
    <stop offset="0" stop-color="#fff1c1"/><stop offset=".35" stop-color="#d9a441"/>
    <stop offset=".6" stop-color="#f7dc91"/><stop offset="1" stop-color="#a8742a"/>
  </linearGradient>
  <radialGradient id="ring"><stop offset=".6" stop-color="#152048"/><stop offset="1" stop-color="#0a1029"/></radialGradient>
  <clipPath id="window"><circle cx="400" cy="400" r="262"/></clipPath>
</defs>
<path d="${scallop(36, 386, 9)}" fill="url(#gold)"/>
<circle cx="400" cy="400" r="372" fill="url(#ring)"/>
<g fill="none" stroke="url(#gold)" stroke-width="1.5">${rosette()}</g>
<circle cx="400" cy="400" r="274" fill="url(#gold)"/>
<g clip-path="url(#window)">
  <rect x="130" y="130" width="540" height="345" fill="url(#sky)"/>
  <g fill="#fff5dc">${stars()}</g>
  <circle cx="400" cy="402" r="74" fill="#ffe9a8" fill-opacity=".3"/><circle cx="400" cy="402" r="54" fill="#fff0bd"/>
  <path d="M110 475 205 352 258 402 330 330 400 420 470 344 545 300 600 366 700 475z" fill="#7d4a86"/>
  <path d="M110 475 190 420 296 262 352 346 386 324 470 475z" fill="#43336f"/>
  <path d="M296 262 330 313 308 330 296 312 280 332 262 313z" fill="#ffe3cf"/>
  <path d="M380 475 452 372 520 240 584 352 612 330 700 475z" fill="#33295f"/>
  <path d="M520 240 553 298 534 318 519 296 500 322 488 302z" fill="#ffe3cf"/>
  <path d="M520 240 553 298 534 318 519 296z M296 262 330 313 308 330 296 312z" fill="#e5a79b"/>
  <rect x="130" y="472" width="540" height="200" fill="url(#lake)"/>
  <g stroke="#ffdf9e" stroke-linecap="round" stroke-width="5" fill="none">${glitter()}</g>
  <g fill="#10173c">${woods()}</g>
</g>
<circle cx="400" cy="400" r="262" fill="none" stroke="#0d1433" stroke-width="4"/>
</svg>
`);
}

/** A closed edge of `count` bulges, `depth` deep, around a circle of `radius`. */
function scallop(count: number, radius: number, depth: number): string {
  const points: string[] = [];
  const steps = count * 12;
  for (let step = 0; step < steps; step += 1) {
    const turn = (step / steps) * 2 * Math.PI;
    points.push(spot(turn, radius - depth * (1 - Math.abs(Math.sin((turn * count) / 2)))));
  }
  return `M${points.join(' ')}z`;
}

/** Sine waves that run round the ring out of step with one another, as on a banknote. */
function rosette(): string {
  return Array.from({ length: 8 }, (_, strand) => {
    const points = Array.from({ length: 721 }, (_, step) => {
      const turn = (step / 720) * 2 * Math.PI;
      const wave = Math.sin(turn * 18 + (strand * Math.PI) / 4);
      return spot(turn, 323 + 38 * wave * (0.72 + 0.28 * Math.cos(turn * 36)));
    });
    return `<path d="M${points.join(' ')}"/>`;
  }).join('');
}

function stars(): string {
  return Array.from({ length: 26 }, (_, star) => {
    const x = 160 + ((star * 197) % 480);
    const y = 148 + ((star * 71) % 130);
    return `<circle cx="${x}" cy="${y}" r="${1.2 + (star % 4) * 0.6}"/>`;
  }).join('');
}

function glitter(): string {
  return Array.from({ length: 9 }, (_, row) => {
    const half = 64 - row * 5 + (row % 3) * 12;
    const shift = ((row * 37) % 30) - 15;
    const fade = (0.95 - row * 0.09).toFixed(2);
    return `<path d="M${CENTRE - half + shift} ${488 + row * 17}h${half * 2}" stroke-opacity="${fade}"/>`;
  }).join('');
}

/** Firs at both sides of the window, smaller towards its middle. */
function woods(): string {
  return [-252, -214, -178, -146, -118, 118, 150, 184, 218, 254]
    .map((shift, index) => {
      const height = 60 + Math.abs(shift) * 0.62 + (index % 3) * 22;
      const foot = 690 - Math.abs(shift) * 0.28;
      const half = height * 0.24;
      const tiers = [0, 1, 2, 3].map((tier) => {
        const top = foot - height * (1 - tier * 0.2);
        const wide = half * (0.4 + tier * 0.22);
        return `M${CENTRE + shift} ${top.toFixed(1)}l${wide.toFixed(1)} ${(height * 0.36).toFixed(1)}h${(-2 * wide).toFixed(1)}z`;
      });
      return `<path d="${tiers.join('')}"/>`;
    })
    .join('');
}

function spot(turn: number, radius: number): string {
  return `${(CENTRE + Math.sin(turn) * radius).toFixed(1)} ${(CENTRE - Math.cos(turn) * radius).toFixed(1)}`;
}
