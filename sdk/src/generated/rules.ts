/** Generated from the tables of the service by `npm run docs`. */

import type { Rule } from '../rule.ts';

export const rules: Readonly<Record<string, Rule>> = {
  w: {
    accepts: 'a whole number from 1 to 10000',
    ranges: [{ minimum: 1, maximum: 10000, whole: true }],
  },
  h: {
    accepts: 'a whole number from 1 to 10000',
    ranges: [{ minimum: 1, maximum: 10000, whole: true }],
  },
  ar: {
    accepts:
      'width:height, each a number from 1 to 10000, such as 16:9; or their quotient, a number from 0.0001 to 10000',
    ranges: [{ minimum: 0.0001, maximum: 10000 }],
    pattern:
      '^0{0,3}(?:[1-9](?:\\.[0-9]{1,20})?|[1-9][0-9]{1}(?:\\.[0-9]{1,20})?|[1-9][0-9]{2}(?:\\.[0-9]{1,20})?|[1-9][0-9]{3}(?:\\.[0-9]{1,20})?|10000(?:\\.0{1,20})?):0{0,3}(?:[1-9](?:\\.[0-9]{1,20})?|[1-9][0-9]{1}(?:\\.[0-9]{1,20})?|[1-9][0-9]{2}(?:\\.[0-9]{1,20})?|[1-9][0-9]{3}(?:\\.[0-9]{1,20})?|10000(?:\\.0{1,20})?)$',
  },
  q: {
    accepts: 'a whole number from 1 to 100, or auto',
    words: ['auto'],
    ranges: [{ minimum: 1, maximum: 100, whole: true }],
  },
  fmt: {
    accepts: 'one of auto, avif, webp, jpeg, png, gif, jxl, svg, blurhash, thumbhash, lqip, json',
    words: [
      'auto',
      'avif',
      'webp',
      'jpeg',
      'png',
      'gif',
      'jxl',
      'svg',
      'blurhash',
      'thumbhash',
      'lqip',
      'json',
      'jpg',
    ],
  },
  fit: {
    accepts: 'one of contain, cover, fill, inside, outside',
    words: ['contain', 'cover', 'fill', 'inside', 'outside'],
  },
  dpr: {
    accepts: 'a number from 1 to 3, or auto',
    words: ['auto'],
    ranges: [{ minimum: 1, maximum: 3 }],
  },
  pos: {
    accepts:
      'one of center, north, northeast, east, southeast, south, southwest, west, northwest, entropy, attention',
    words: [
      'center',
      'north',
      'northeast',
      'east',
      'southeast',
      'south',
      'southwest',
      'west',
      'northwest',
      'entropy',
      'attention',
      'centre',
      'top',
      'right',
      'bottom',
      'left',
      'right top',
      'top right',
      'right-top',
      'top-right',
      'right_top',
      'top_right',
      'right,top',
      'top,right',
      'right bottom',
      'bottom right',
      'right-bottom',
      'bottom-right',
      'right_bottom',
      'bottom_right',
      'right,bottom',
      'bottom,right',
      'left bottom',
      'bottom left',
      'left-bottom',
      'bottom-left',
      'left_bottom',
      'bottom_left',
      'left,bottom',
      'bottom,left',
      'left top',
      'top left',
      'left-top',
      'top-left',
      'left_top',
      'top_left',
      'left,top',
      'top,left',
    ],
  },
  fp: {
    accepts: 'x,y: each a number from 0 to 1',
    ranges: [
      { minimum: 0, maximum: 1 },
      { minimum: 0, maximum: 1 },
    ],
  },
  bg: { accepts: 'hex digits without # (3, 4, 6 or 8), or a CSS colour name', kind: 'colour' },
  enlarge: { accepts: 'empty, 1 or true, or 0 or false, or box', flag: true, words: ['box'] },
  kernel: {
    accepts: 'one of nearest, linear, cubic, mitchell, lanczos2, lanczos3, mks2013, mks2021',
    words: ['nearest', 'linear', 'cubic', 'mitchell', 'lanczos2', 'lanczos3', 'mks2013', 'mks2021'],
  },
  crop: {
    accepts:
      'left,top,width,height: left and top a whole number from 0 to 100000, width and height a whole number from 1 to 100000',
    ranges: [
      { minimum: 0, maximum: 100000, whole: true },
      { minimum: 0, maximum: 100000, whole: true },
      { minimum: 1, maximum: 100000, whole: true },
      { minimum: 1, maximum: 100000, whole: true },
    ],
  },
  trim: {
    accepts: 'empty, 1 or true for 10, 0 or false to disable it, or a number from 0 to 100',
    flag: true,
    ranges: [{ minimum: 0, maximum: 100 }],
  },
  rotate: { accepts: 'a number from -360 to 360', ranges: [{ minimum: -360, maximum: 360 }] },
  flip: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  flop: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  extend: {
    accepts: 'top,right,bottom,left: each a whole number from 0 to 2000',
    ranges: [
      { minimum: 0, maximum: 2000, whole: true },
      { minimum: 0, maximum: 2000, whole: true },
      { minimum: 0, maximum: 2000, whole: true },
      { minimum: 0, maximum: 2000, whole: true },
    ],
  },
  flatten: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  grayscale: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  negate: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  normalize: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  gamma: { accepts: 'a number from 1 to 3', ranges: [{ minimum: 1, maximum: 3 }] },
  brightness: { accepts: 'a number from 0 to 10', ranges: [{ minimum: 0, maximum: 10 }] },
  saturation: { accepts: 'a number from 0 to 10', ranges: [{ minimum: 0, maximum: 10 }] },
  hue: {
    accepts: 'a whole number from -360 to 360',
    ranges: [{ minimum: -360, maximum: 360, whole: true }],
  },
  lightness: { accepts: 'a number from -100 to 100', ranges: [{ minimum: -100, maximum: 100 }] },
  modulate: {
    accepts:
      'brightness,saturation,hue,lightness: brightness and saturation a number from 0 to 10, hue a whole number from -360 to 360, lightness a number from -100 to 100',
    ranges: [
      { minimum: 0, maximum: 10 },
      { minimum: 0, maximum: 10 },
      { minimum: -360, maximum: 360, whole: true },
      { minimum: -100, maximum: 100 },
    ],
  },
  tint: { accepts: 'hex digits without # (3, 4, 6 or 8), or a CSS colour name', kind: 'colour' },
  threshold: {
    accepts: 'a whole number from 0 to 255',
    ranges: [{ minimum: 0, maximum: 255, whole: true }],
  },
  median: {
    accepts: 'a whole number from 1 to 15',
    ranges: [{ minimum: 1, maximum: 15, whole: true }],
  },
  blur: {
    accepts: 'empty, 1 or true for 1, 0 or false to disable it, or a number from 0.3 to 100',
    flag: true,
    ranges: [{ minimum: 0.3, maximum: 100 }],
  },
  sharpen: {
    accepts: 'empty, 1 or true for 1, 0 or false to disable it, or a number from 0.01 to 10',
    flag: true,
    ranges: [{ minimum: 0.01, maximum: 10 }],
  },
  opacity: { accepts: 'a number from 0 to 1', ranges: [{ minimum: 0, maximum: 1 }] },
  page: {
    accepts: 'a whole number from 0 to 99999',
    ranges: [{ minimum: 0, maximum: 99999, whole: true }],
  },
  lenient: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  animated: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  lossless: { accepts: 'empty, 1 or true, or 0 or false', flag: true },
  maxbytes: {
    accepts: 'a whole number from 1 to 100000000',
    ranges: [{ minimum: 1, maximum: 100000000, whole: true }],
  },
  keep: { accepts: 'copyright', words: ['copyright'] },
  icc: { accepts: 'keep', words: ['keep'] },
  hdr: { accepts: 'keep', words: ['keep'] },
  v: {
    accepts: '1 to 64 letters, digits, dots, hyphens and underscores',
    pattern: '^[0-9A-Za-z._-]{1,64}$',
  },
  preset: { accepts: 'a name, of 1 to 40 characters', maxLength: 40 },
  layer: {
    accepts: '1 to 10 different names of layers, separated by commas',
    pattern: '^[a-z][a-z0-9_-]{0,39}(?:,[a-z][a-z0-9_-]{0,39}){0,9}$',
  },
  fallback: { accepts: 'an absolute http or https URL', kind: 'url', maxLength: 8192 },
  download: { accepts: 'a file name of 1 to 200 characters', kind: 'fileName', maxLength: 200 },
};

/** CSS colour names. */
export const colourNames =
  'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen transparent';

/** Maximum number of characters in a source URL. */
export const maxSourceLength = 8192;
