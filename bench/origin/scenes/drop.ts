import { mix, smoothstep } from './noise.ts';
import { blend, type Surface } from './surface.ts';

/** How much more of the scene than its own size a drop shows. */
const WIDE = 5.5;

/**
 * A drop of water at x, y: a ball lens that shows the `scene` behind it upside down, dark towards
 * its rim, with the sun's spark above and its gathered light below.
 */
export function paintDrop(
  surface: Surface,
  scene: Surface,
  x: number,
  y: number,
  radius: number,
): void {
  const reach = Math.ceil(radius * 1.1) + 1;
  const column = Math.round(x);
  const row = Math.round(y);
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      const u = dx / radius;
      // A hanging drop is a little longer below than above.
      const v = (dy / radius) * (dy > 0 ? 0.94 : 1.04);
      const distance = Math.hypot(u, v);
      const cover = smoothstep(1 + 0.9 / radius, 1 - 0.9 / radius, distance);
      if (cover === 0) continue;
      const bulge = WIDE * (0.55 + 0.45 * distance ** 3);
      const fromX = Math.min(scene.width - 1, Math.max(0, Math.round(x - u * radius * bulge)));
      const fromY = Math.min(scene.height - 1, Math.max(0, Math.round(y - v * radius * bulge)));
      const from = (fromY * scene.width + fromX) * 3;
      const rim = mix(1, 0.16, smoothstep(0.66, 0.99, distance) * (0.8 - 0.35 * v));
      const gathered = Math.exp(-((Math.hypot(u - 0.22, v - 0.62) / 0.3) ** 2)) * 0.55;
      const crescent = smoothstep(0.76, 0.88, distance) * smoothstep(0.99, 0.92, distance);
      const bounce = crescent * smoothstep(0.2, 0.95, v) * 0.5;
      const spark =
        smoothstep(0.17, 0.09, Math.hypot((u + 0.34) * 0.85, v + 0.46)) * 2.4 +
        smoothstep(0.06, 0.03, Math.hypot(u + 0.1, v + 0.66)) * 1.2;
      blend(
        surface,
        column + dx,
        row + dy,
        [
          (scene.light[from] ?? 0) * 1.2 * rim + gathered * 0.8 + bounce * 0.8 + spark,
          (scene.light[from + 1] ?? 0) * 1.2 * rim + gathered * 0.85 + bounce + spark,
          (scene.light[from + 2] ?? 0) * 1.2 * rim + gathered * 0.35 + bounce * 0.5 + spark,
        ],
        cover,
      );
    }
  }
}
