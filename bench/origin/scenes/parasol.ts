import { mix, type Random, smoothstep } from './noise.ts';
import { blend, type Light, type Surface } from './surface.ts';

const SEGMENTS = 8;
const CREAM: Light = [0.9, 0.85, 0.74];

/** A striped parasol from above with its shadow on the sand and a towel beside it. */
export function paintParasol(
  surface: Surface,
  x: number,
  y: number,
  radius: number,
  cloth: Light,
  random: Random,
): void {
  const turn = random() * Math.PI;
  paintTowel(surface, x + radius * 1.15, y - radius * 0.5, radius, turn, cloth);
  const reach = Math.ceil(radius * 2.2);
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      const shadow = Math.hypot(dx + radius * 0.62, dy - radius * 0.42);
      const shaded = smoothstep(radius * 1.04, radius * 0.92, shadow) * 0.6;
      blend(surface, x + dx, y + dy, [0.13, 0.1, 0.12], shaded);
    }
  }
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      const sector = ((Math.atan2(dy, dx) + turn + 4 * Math.PI) * SEGMENTS) / (2 * Math.PI);
      const within = sector % 1;
      // The cloth hangs in a little between two ribs.
      const rim = radius * (1 - 0.05 * Math.sin(within * Math.PI));
      const distance = Math.hypot(dx, dy);
      const cover = smoothstep(rim + 0.8, rim - 0.8, distance);
      if (cover === 0) continue;
      const middle = ((Math.floor(sector) + 0.5) * 2 * Math.PI) / SEGMENTS - turn;
      const lit = 0.82 + 0.3 * Math.cos(middle - 5.6) * Math.min(1, distance / (radius * 0.3));
      const fold = 1 - 0.25 * smoothstep(0.06, 0, Math.min(within, 1 - within));
      const base = Math.floor(sector) % 2 === 0 ? cloth : CREAM;
      const knob = smoothstep(5, 3.5, distance);
      const colour = base.map((part) => mix(part * lit * fold, 0.95, knob));
      blend(surface, x + dx, y + dy, [colour[0] ?? 0, colour[1] ?? 0, colour[2] ?? 0], cover);
    }
  }
}

function paintTowel(
  surface: Surface,
  x: number,
  y: number,
  size: number,
  turn: number,
  cloth: Light,
): void {
  const cos = Math.cos(turn * 0.4 - 0.5);
  const sin = Math.sin(turn * 0.4 - 0.5);
  const reach = Math.ceil(size * 1.6);
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      const along = Math.abs(dx * cos + dy * sin) / (size * 1.05);
      const across = Math.abs(dy * cos - dx * sin) / (size * 0.48);
      const inside = smoothstep(1.03, 0.99, along) * smoothstep(1.05, 0.99, across);
      if (inside === 0) continue;
      const band = Math.floor(along * 6) % 2 === 1;
      blend(surface, Math.round(x) + dx, Math.round(y) + dy, band ? cloth : CREAM, inside);
    }
  }
}
