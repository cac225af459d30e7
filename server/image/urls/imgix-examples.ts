import type { UrlExample } from './grammar.ts';

export const imgixExamples: readonly UrlExample[] = [
  {
    url: '/a.jpg?w=300',
    native: 'dpr=1&enlarge=1&w=300',
    meaning: "A path below the host's `base`.",
    size: '300 × 188',
  },
  {
    url: '/https%3A%2F%2Fshop.example%2Fa.jpg?w=300',
    native: 'dpr=1&enlarge=1&w=300',
    meaning: "The encoded URL of a web proxy source, on a host of the project's allowlist.",
    size: '300 × 188',
  },
  {
    url: '/a.jpg?w=2000',
    native: 'dpr=1&enlarge=1&w=2000',
    meaning: 'Scaled up.',
    size: '2000 × 1250',
  },
  {
    url: '/a.jpg?w=300&h=300',
    native: 'dpr=1&enlarge=1&fit=inside&h=300&w=300',
    meaning: 'Within the box: `fit=clip`.',
    size: '300 × 188',
  },
  {
    url: '/a.jpg?w=2000&h=2000&fit=max',
    native: 'dpr=1&fit=inside&h=2000&w=2000',
    meaning: 'Within the box, not scaled up.',
    size: '1600 × 1000',
  },
  {
    url: '/a.jpg?w=300&h=200&fit=crop',
    native: 'dpr=1&enlarge=1&fit=cover&h=200&w=300',
    meaning: 'The middle.',
    size: '300 × 200',
  },
  {
    url: '/a.jpg?w=300&h=200&fit=crop&crop=top,left',
    native: 'dpr=1&enlarge=1&fit=cover&h=200&pos=northwest&w=300',
    meaning: 'Another part of it.',
    size: '300 × 200',
  },
  {
    url: '/a.jpg?w=300&h=200&fit=crop&crop=focalpoint&fp-x=0.7&fp-y=0.3',
    native: 'dpr=1&enlarge=1&fit=cover&fp=0.7,0.3&h=200&w=300',
    meaning: 'The part around a point.',
    size: '300 × 200',
  },
  {
    url: '/a.jpg?w=300&h=200&fit=crop&crop=entropy',
    native: 'dpr=1&enlarge=1&fit=cover&h=200&pos=entropy&w=300',
    meaning: 'The part with the most details.',
    size: '300 × 200',
  },
  {
    url: '/a.jpg?w=300&ar=16:9&fit=crop',
    native: 'ar=16:9&dpr=1&enlarge=1&fit=cover&w=300',
    meaning: 'A ratio, also with `h`, or with neither.',
    size: '300 × 169',
  },
  {
    url: '/a.jpg?w=2000&h=1000&fit=min',
    native: 'dpr=1&fit=cover&h=1000&w=2000',
    meaning: 'The ratio of a box that is larger than the picture.',
    size: '1600 × 800',
  },
  {
    url: '/a.jpg?w=2000&h=2000&fit=fillmax',
    native: 'dpr=1&enlarge=box&fit=contain&h=2000&w=2000',
    meaning: 'The whole image in a box, not scaled up.',
    size: '2000 × 2000',
  },
  {
    url: '/a.jpg?w=300&h=300&fit=fill&fill=solid&fill-color=fff',
    native: 'bg=fff&dpr=1&enlarge=1&fit=contain&h=300&w=300',
    meaning: 'With background around it.',
    size: '300 × 300',
  },
  {
    url: '/a.jpg?w=300&h=300&fit=scale',
    native: 'dpr=1&enlarge=1&fit=fill&h=300&w=300',
    meaning: 'Distorted.',
    size: '300 × 300',
  },
  {
    url: '/a.jpg?rect=100,80,400,300&w=200',
    native: 'crop=100,80,400,300&dpr=1&enlarge=1&w=200',
    meaning: 'A part of the source, in its pixels.',
    size: '200 × 150',
  },
  {
    url: '/a.jpg?w=300&dpr=2&q=60',
    native: 'dpr=2&enlarge=1&q=60&w=300',
    meaning: 'Device pixels, and a quality.',
    size: '600 × 375',
  },
  {
    url: '/a.jpg?w=300&dpr=5',
    native: 'dpr=1&enlarge=1&w=1500',
    meaning: 'A ratio beyond 1 to 3 multiplies the sides.',
    size: '1500 × 938',
  },
  {
    url: '/a.jpg?w=300&auto=format,compress',
    native: 'dpr=1&enlarge=1&fmt=auto&q=45&w=300',
    meaning: 'The best format of the client, with the quality that imgix documents for `compress`.',
    size: '300 × 188',
  },
  {
    url: '/a.jpg?w=300&fm=webp&lossless=1',
    native: 'dpr=1&enlarge=1&fmt=webp&lossless=1&w=300',
    meaning: 'One format.',
    size: '300 × 188',
  },
  {
    url: '/a.jpg?w=300&flip=h&sat=-100&bg=f00',
    native: 'bg=f00&dpr=1&enlarge=1&flatten=1&flop=1&grayscale=1&w=300',
    meaning: 'Mirrored, without colours, on a background.',
    size: '300 × 188',
  },
  {
    url: '/a.jpg?w=300&dl=photo.jpg',
    native: 'download=photo&dpr=1&enlarge=1&w=300',
    meaning: 'Saved under a name.',
    size: '300 × 188',
  },
];

export const imgixNotes: readonly string[] = [
  "The token of the imgix source is the project's secret of the kind `imgix`. `s` may be anywhere in the query.",
  '`expires` refuses the URL afterwards with 403; imgix sends 404.',
  "Without `fm` and `auto=format` the format follows the project's `autoFormat`: turn it off for the format of the source, as imgix delivers it. Without `q` the quality is the project's `defaultQuality`; imgix has 75.",
  'A name that ends with `64`, such as `dl64`, has its value in base64url, as at imgix.',
  '`bg` must be opaque, and needs `fill-color` beside `fit=fill`. Hexadecimal colours of 4 and 8 digits begin with the alpha.',
  'JPEGs are not progressive.',
  'Client hints do not change the size.',
  'imgix ignores some parameters next to others, such as `ar` without `fit=crop`, and unknown ones; so does this service, with `x-image-warnings`.',
  'Refused with the name of the option: faces, `crop=edges` and `crop=auto`, `fit=facearea` and `clamp`, `fit=fillmax` with a single side, fractions of the source in `w`, `h` and `rect`, `fp-z`, `ar` with both sides, `fm` with `auto`, `max-w` and the like, `orient`, `rot`, `trim`, borders, masks, padding, blends, watermarks, texts, blur, sharpening and all adjustments of colours but `sat=-100` and `invert`.',
];
