/** `#rrggbbaa`, lower case. */
export type Colour = `#${string}`;

/** A colour in sharp's form: channels 0..255, alpha 0..1. */
export interface Rgba {
  readonly r: number;
  readonly g: number;
  readonly b: number;
  readonly alpha: number;
}
