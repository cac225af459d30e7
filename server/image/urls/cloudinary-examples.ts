import type { UrlExample } from './grammar.ts';

export const cloudinaryExamples: readonly UrlExample[] = [
  {
    url: '/demo/image/upload/c_scale,w_300/a.jpg',
    native: 'dpr=1&enlarge=1&fmt=jpeg&w=300',
    meaning:
      "A path below the host's `base`, in the format of its extension. The name of the cloud may be missing.",
    size: '300 × 188',
  },
  {
    url: '/demo/image/fetch/w_300/https://shop.example/a.jpg',
    native: 'dpr=1&enlarge=1&w=300',
    meaning:
      "A source on a host of the project's allowlist, encoded or not. Without `c` it is scaled.",
    size: '300 × 188',
  },
  {
    url: '/demo/image/upload/c_scale,w_300/f_auto/q_auto/v1571218039/a.jpg',
    native: 'dpr=1&enlarge=1&fmt=auto&q=auto&v=1571218039&w=300',
    meaning: 'Components one after the other, and a version.',
    size: '300 × 188',
  },
  {
    url: '/demo/image/upload/c_fill,w_300,h_200/a.jpg',
    native: 'dpr=1&enlarge=1&fit=cover&fmt=jpeg&h=200&w=300',
    meaning: 'The middle.',
    size: '300 × 200',
  },
  {
    url: '/demo/image/upload/c_fill,g_north_east,w_300,h_200/a.jpg',
    native: 'dpr=1&enlarge=1&fit=cover&fmt=jpeg&h=200&pos=northeast&w=300',
    meaning: 'Another part of it.',
    size: '300 × 200',
  },
  {
    url: '/demo/image/upload/c_fill,g_auto,w_300,h_200/a.jpg',
    native: 'dpr=1&enlarge=1&fit=cover&fmt=jpeg&h=200&pos=attention&w=300',
    meaning: 'The most interesting part.',
    size: '300 × 200',
  },
  {
    url: '/demo/image/upload/c_fill,ar_16:9,w_300/a.jpg',
    native: 'ar=16:9&dpr=1&enlarge=1&fit=cover&fmt=jpeg&w=300',
    meaning: 'A ratio and a side.',
    size: '300 × 169',
  },
  {
    url: '/demo/image/upload/c_fill,ar_1.5/a.jpg',
    native: 'ar=1.5&dpr=1&fit=cover&fmt=jpeg',
    meaning: 'A ratio only.',
    size: '1500 × 1000',
  },
  {
    url: '/demo/image/upload/c_fit,w_2000,h_2000/a.jpg',
    native: 'dpr=1&enlarge=1&fit=inside&fmt=jpeg&h=2000&w=2000',
    meaning: 'Within the box, scaled up.',
    size: '2000 × 1250',
  },
  {
    url: '/demo/image/upload/c_limit,w_2000,h_2000/a.jpg',
    native: 'dpr=1&fit=inside&fmt=jpeg&h=2000&w=2000',
    meaning: 'Within the box, not scaled up.',
    size: '1600 × 1000',
  },
  {
    url: '/demo/image/upload/c_lfill,w_300,h_200/a.jpg',
    native: 'dpr=1&fit=cover&fmt=jpeg&h=200&w=300',
    meaning: 'The middle, if the source is larger than the box.',
    size: '300 × 200',
  },
  {
    url: '/demo/image/upload/c_lfill,w_2000,h_1500/a.jpg',
    native: 'dpr=1&fmt=jpeg',
    meaning: 'No effect on a smaller source.',
    size: '1600 × 1000',
  },
  {
    url: '/demo/image/upload/b_white,c_pad,w_300,h_300/a.jpg',
    native: 'bg=white&dpr=1&enlarge=1&fit=contain&flatten=1&fmt=jpeg&h=300&w=300',
    meaning: 'With background around it, and behind transparency.',
    size: '300 × 300',
  },
  {
    url: '/demo/image/upload/c_scale,w_300,h_300/a.jpg',
    native: 'dpr=1&enlarge=1&fit=fill&fmt=jpeg&h=300&w=300',
    meaning: 'Distorted.',
    size: '300 × 300',
  },
  {
    url: '/demo/image/upload/c_crop,x_100,y_80,w_400,h_300/c_scale,w_200/a.jpg',
    native: 'crop=100,80,400,300&dpr=1&enlarge=1&fmt=jpeg&w=200',
    meaning: 'A part of the source, in its pixels.',
    size: '200 × 150',
  },
  {
    url: '/demo/image/upload/c_scale,dpr_2.0,w_300/a.jpg',
    native: 'dpr=2&enlarge=1&fmt=jpeg&w=300',
    meaning: 'Device pixels.',
    size: '600 × 375',
  },
  {
    url: '/demo/image/upload/a_90/c_scale,w_300/f_webp,q_60/a.jpg',
    native: 'dpr=1&enlarge=1&fmt=webp&q=60&rotate=90&w=300',
    meaning: 'Rotated, and then scaled.',
    size: '300 × 480',
  },
  {
    url: '/demo/image/upload/c_scale,w_300/a_hflip/e_grayscale/a.jpg',
    native: 'dpr=1&enlarge=1&flop=1&fmt=jpeg&grayscale=1&w=300',
    meaning: 'Mirrored and without colours.',
    size: '300 × 188',
  },
  {
    url: '/demo/image/upload/t_card/f_auto/a.jpg',
    native: 'dpr=1&fmt=auto&preset=card',
    meaning: "A named transformation is the project's preset of this name, here of 400 × 300.",
    size: '400 × 300',
  },
  {
    url: '/demo/image/upload/c_scale,w_300/fl_attachment:map.keep_attribution/a.jpg',
    native: 'download=map&dpr=1&enlarge=1&fmt=jpeg&keep=copyright&w=300',
    meaning: 'Saved under a name, with the copyright.',
    size: '300 × 188',
  },
];

export const cloudinaryNotes: readonly string[] = [
  "The API secret is the project's secret of the kind `cloudinary`. Signatures `s--…--` have 8 characters of SHA-1 or SHA-256, or 32 of SHA-256, and do not cover the version.",
  "The public id is the path of the source below `base`, with its folders and its extension. The extension is the format too, as `f_jpg` is, if this service has the format; `f` takes precedence. Without both, and with `fetch`, the format follows the project's `autoFormat`, and without `q` the quality its `defaultQuality`.",
  'A segment whose options begin like parameters, such as `w_300`, is a component, as at Cloudinary; the last segment never is.',
  'Components are applied in the order of [this service](../parameters.md#order-of-operations): a chain whose order has another result, such as a rotation after a resize, is refused, and so is a second resize.',
  '`t_` may be chained with `f`, `q` and `fl` only.',
  'Animations stay animated where the output format has them, and JPEGs are not progressive.',
  'Query parameters that begin with `_` are those of libraries. Others are ignored, with `x-image-warnings`; a fetched URL with a query of its own must be encoded.',
  'Refused with the name of the option: other modes of `c`, such as `thumb`, `lpad`, `mfit` and `auto`, `c_lfill` of a source that is larger than the box on one side only, faces and objects as gravity, `c_crop` without `x`, `y` or `g_north_west`, fractions and words in `w` and `h`, `dpr_auto`, levels of `q_auto` but `good`, effects but `e_grayscale` and `e_negate`, layers, borders, rounded corners, default images, conditions, variables, and delivery types other than `upload` and `fetch`.',
];
