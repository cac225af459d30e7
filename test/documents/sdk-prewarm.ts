import { bodySchemas } from '../../server/control/schemas.ts';

/** What a prewarm request can name, for the client that derives requests from image URLs. */
export function prewarmModule(): string {
  const { widths, formats, quality, fit, dpr } = bodySchemas.PrewarmInput.properties;
  const rangeOf = ({ minimum, maximum }: { minimum: number; maximum: number }) => ({
    minimum,
    maximum,
  });
  const limits = {
    w: rangeOf(widths.items),
    q: rangeOf(quality),
    dpr: rangeOf(dpr),
    fmt: formats.items.enum,
    fit: fit.enum,
  };
  return `/** The values of image parameters that prewarming accepts: whole numbers and words. */
  export const prewarmValues = ${JSON.stringify(limits)} as const;

  /** The most widths of a request. */
  export const maxPrewarmWidths = ${widths.maxItems};`;
}
