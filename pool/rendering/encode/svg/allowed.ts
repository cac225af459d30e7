/**
 * Elements and attributes of SVG 2 and Filter Effects 1 that draw, except scripts, links, foreign
 * content and fonts. The sanitiser omits all others.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const elements = words(`
  animate animateMotion animateTransform circle clipPath defs desc ellipse feBlend feColorMatrix feComponentTransfer
  feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB
  feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting
  feSpotLight feTile feTurbulence filter g image line linearGradient marker mask mpath path pattern polygon polyline
  radialGradient rect set stop style svg switch symbol text textPath title tspan use view`);

/** Elements to drop while keeping their content. */
export const unwrapped = words('a');

export const animations = words('animate animateMotion animateTransform set');

/** Attributes with CSS properties as values, which animations can change too. */
const presentation = words(`
  alignment-baseline baseline-shift clip clip-path clip-rule color color-interpolation color-interpolation-filters
  color-rendering cx cy d direction display dominant-baseline fill fill-opacity fill-rule filter flood-color
  flood-opacity font-family font-kerning font-size font-size-adjust font-stretch font-style font-variant font-weight
  glyph-orientation-horizontal glyph-orientation-vertical height image-rendering isolation kerning letter-spacing
  lighting-color marker marker-end marker-mid marker-start mask mask-type mix-blend-mode opacity overflow paint-order
  pointer-events r rx ry shape-rendering stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset
  stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor text-decoration
  text-overflow text-rendering transform transform-box transform-origin unicode-bidi visibility
  white-space width word-spacing writing-mode x y`);

const others = words(`
  accumulate additive amplitude attributeName azimuth baseFrequency begin bias by calcMode class clipPathUnits cx cy
  diffuseConstant divisor dur dx dy edgeMode elevation enable-background end exponent filterUnits fr from fx fy gradientTransform
  gradientUnits href id in in2 intercept k1 k2 k3 k4 kernelMatrix kernelUnitLength keyPoints keySplines keyTimes
  lengthAdjust limitingConeAngle markerHeight markerUnits markerWidth maskContentUnits maskUnits max media method min mode
  numOctaves offset operator order orient origin path pathLength patternContentUnits patternTransform patternUnits
  points pointsAtX pointsAtY pointsAtZ preserveAlpha preserveAspectRatio primitiveUnits radius refX refY repeatCount
  repeatDur requiredExtensions requiredFeatures restart result rotate scale seed side slope spacing specularConstant
  specularExponent spreadMethod startOffset stdDeviation stitchTiles style surfaceScale systemLanguage tableValues
  targetX targetY textLength to type values version viewBox x1 x2 xChannelSelector y1 y2 yChannelSelector z`);

/** Attributes that animations can change, excluding names of resources and links. */
export const animated: ReadonlySet<string> = new Set([
  ...presentation,
  ...words(`
    amplitude baseFrequency diffuseConstant dx dy elevation exponent fr fx fy gradientTransform intercept k1 k2 k3 k4
    offset orient pathLength patternTransform points preserveAspectRatio radius refX refY rotate scale seed slope
    specularConstant startOffset stdDeviation surfaceScale tableValues textLength values viewBox x1 x2 y1 y2 z`),
]);

export const attributes: ReadonlySet<string> = new Set([...presentation, ...others]);
