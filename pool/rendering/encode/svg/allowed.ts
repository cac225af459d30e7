/**
 * Elements and attributes of SVG 2 and Filter Effects 1 that draw, except scripts, links, foreign
 * content and fonts. The sanitiser omits all others.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const elements = words(`
  animate animateMotion animateTransform circle clipPath defs desc ellipse feBlend feColorMatrix
  feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
  feGaussianBlur feImage feMerge feMergeNode feOffset feTile filter g image line linearGradient
  marker mask mpath path pattern polygon polyline radialGradient rect set stop style svg switch
  symbol text textPath title tspan use view`);

/** Filter effects that take a browser 50 to 500 ms per megapixel, so documents with them are refused. */
export const costlyEffects = words(`
  feConvolveMatrix feDiffuseLighting feDisplacementMap feMorphology feSpecularLighting feTurbulence`);

/** Elements to drop while keeping their content. */
export const unwrapped = words('a');

export const animations = words('animate animateMotion animateTransform set');

/** Attributes with CSS properties as values, which animations can change too. */
const presentation = words(`
  alignment-baseline baseline-shift clip clip-path clip-rule color color-interpolation
  color-interpolation-filters color-rendering cx cy d direction display dominant-baseline fill
  fill-opacity fill-rule filter flood-color flood-opacity font-family font-kerning font-size
  font-size-adjust font-stretch font-style font-variant font-weight glyph-orientation-horizontal
  glyph-orientation-vertical height image-rendering isolation kerning letter-spacing marker
  marker-end marker-mid marker-start mask mask-type mix-blend-mode opacity overflow paint-order
  pointer-events r rx ry shape-rendering stop-color stop-opacity stroke stroke-dasharray
  stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width
  text-anchor text-decoration text-overflow text-rendering transform transform-box transform-origin
  unicode-bidi vector-effect visibility white-space width word-spacing writing-mode x y`);

const others = words(`
  accumulate additive amplitude attributeName begin bias by calcMode class clipPathUnits cx cy dur
  dx dy edgeMode enable-background end exponent filterUnits fr from fx fy gradientTransform
  gradientUnits href id in in2 intercept k1 k2 k3 k4 keyPoints keySplines keyTimes lengthAdjust
  markerHeight markerUnits markerWidth maskContentUnits maskUnits max media method min mode offset
  operator orient origin path pathLength patternContentUnits patternTransform patternUnits points
  preserveAspectRatio primitiveUnits refX refY repeatCount repeatDur requiredExtensions
  requiredFeatures restart result rotate side slope spacing spreadMethod startOffset stdDeviation
  style systemLanguage tableValues textLength to type values version viewBox x1 x2 y1 y2`);

/** Attributes that animations can change, excluding names of resources and links. */
export const animated: ReadonlySet<string> = new Set([
  ...presentation,
  ...words(`
  amplitude dx dy exponent fr fx fy gradientTransform intercept k1 k2 k3 k4 offset orient
  pathLength patternTransform points preserveAspectRatio refX refY rotate slope startOffset
  stdDeviation tableValues textLength values viewBox x1 x2 y1 y2`),
]);

export const attributes: ReadonlySet<string> = new Set([...presentation, ...others]);
