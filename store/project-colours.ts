import { createHash } from 'node:crypto';

/** Converts HSL to `#rrggbb` as in CSS Color 4. Hue in degrees, the others 0..1. */
function hex(hue: number, saturation: number, lightness: number): string {
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): string => {
    const k = (offset + hue / 30) % 12;
    const value = lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** Two matching colours for a project in user interfaces, derived from its id. */
export function projectColours(id: string): { color1: string; color2: string } {
  const digest = createHash('sha256').update(id).digest();
  const hue = digest.readUInt16BE(0) % 360;
  const turn = 30 + (digest.readUInt16BE(2) % 90);
  return { color1: hex(hue, 0.65, 0.5), color2: hex((hue + turn) % 360, 0.7, 0.6) };
}
