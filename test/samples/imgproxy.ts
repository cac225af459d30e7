import {
  bordered,
  clipped,
  exact,
  fixed,
  high,
  inside,
  limited,
  ofPart,
  ofRatio,
  type Sample,
  type Templates,
  toSamples,
  turned,
  whole,
  wide,
  withoutFrame,
} from './sample.ts';

const kept = { enlarge: false };
const half = { width: 0.5, height: 0.5 };

/** Options as of imgproxy's documents; the Pro options among them are rare. */
const templates: Templates = {
  shop: [
    ['rs:fit:{w}:{h}', inside(kept)],
    ['rs:fill:{w}:{h}', clipped()],
    ['rs:fill:{w}:{h}/g:sm', clipped()],
    ['resize:fill:{w}:{h}:0/gravity:ce', clipped()],
    ['rs:fit:{w}:{h}:0:1/bg:ffffff', exact()],
    ['rs:fit:{w}:{h}/ex:1:no/bg:fff/f:jpg', exact()],
    ['w:{w}/f:webp', wide(kept)],
    ['w:{w}/q:80/f:avif', wide(kept)],
    ['width:{w}/dpr:2', wide({ dpr: 2, enlarge: false })],
    ['rs:fill:{w}:{h}:1/q:75', exact()],
    ['rs:fit:{w}:{h}/sh:0.5', inside(kept)],
    ['rs:fill:{w}:{h}/g:no/q:85', clipped()],
    ['trim:10/rs:fit:{w}:{h}', withoutFrame(inside(kept)), 'frame.png'],
    ['t:10/rs:fit:{w}:{h}:0:1/bg:fff', exact(), 'frame.png'],
    ['rs:fit:{w}:{h}/wm:0.8:soea:10:10:0.2', inside(kept)],
    ['rs:fill:{w}:{h}/wm:0.5:ce', clipped()],
    ['pr:card', fixed(200, 150)],
    ['rs:fill-down:{w}:{h}', ofRatio],
    ['rs:fit:{w}:{h}/fq:jpeg:80:webp:75:avif:60', inside(kept)],
    ['c:800:600:nowe:100:80/w:{w}', ofPart({ width: 800, height: 600 }, wide(kept)), 'photo.jpg'],
  ],
  magazine: [
    ['rs:fill:{w}:{h}/g:fp:0.5:0.3', clipped()],
    ['rs:fill:{w}:{h}:1/g:fp:0.25:0.4/f:webp', exact()],
    ['rs:fill:{w}:{h}/g:so', clipped()],
    ['rs:fill:{w}:{h}/g:nowe', clipped()],
    ['w:{w}/bl:20', wide(kept)],
    ['w:{w}/blur:50/q:20', wide(kept)],
    ['w:{w}/pix:8', wide(kept)],
    ['w:{w}/pixelate:[4~10~16~20~12]', wide(kept)],
    [
      'rs:auto:{w}:{h}',
      (source, box) =>
        source.width >= source.height === box.width >= box.height
          ? clipped()(source, box)
          : inside(kept)(source, box),
    ],
    ['rs:fill:{w}:{h}/sh:[0.3~0.5~0.7~1~1.5]', clipped()],
    ['s:{w}:{h}/rt:fill/g:ce', clipped()],
    ['rs:fit:{w}:0/q:70/f:jpg', wide(kept)],
    ['h:{h}/q:70', high(kept)],
    ['rs:fit:0:{h}', high(kept)],
    ['rs:fill:{w}:{h}/dpr:1.5', limited(1.5)],
    ['mb:60000/w:{w}/f:jpg', wide(kept)],
    ['w:{w}/[br:10~co:1.2~sa:0.8~mc:1:b3b3b3~dt:1:000080:fa8072]', wide(kept)],
    ['rs:fill:{w}:{h}/g:noea/f:avif/q:50', clipped()],
    ['rs:fit:{w}:{h}/el:1', inside()],
    ['rs:fill:{w}:{h}/g:sm/f:webp/q:80/sm:1/scp:1', clipped()],
  ],
  cms: [
    ['', whole],
    ['f:webp', whole],
    ['w:{w}/el:1', wide()],
    ['rs:fit:{w}:{h}:1', inside()],
    ['rot:90/w:{w}', turned(wide(kept))],
    ['rs:fit:{w}:{h}/rot:180', inside(kept)],
    ['w:{w}/fl:1', wide(kept)],
    ['rs:force:{w}:{h}:1', exact()],
    ['c:0.5:0.5:ce/w:{w}', ofPart(half, wide(kept))],
    ['c:0:0.5:no/w:{w}', ofPart({ width: 1, height: 0.5 }, wide(kept))],
    [
      'w:{w}/pd:10:20/bg:f0f0f0',
      (source, box) => {
        const { width, height } = wide(kept)(source, box);
        return { width: width + 40, height: height + 20 };
      },
    ],
    ['rs:fit:{w}:{h}/pd:8', bordered(inside(kept), 8)],
    ['raw:1', whole],
    ['w:{w}/att:1/fn:report', wide(kept)],
    ['w:{w}/cb:1712345678', wide(kept)],
    ['w:{w}/exp:4102444800', wide(kept)],
    ['skp:svg:gif/rs:fit:{w}:{h}', inside(kept)],
    ['w:{w}/sm:1/kcr:1/scp:1', wide(kept)],
    [
      'rs:fit:{w}:{h}/mw:{w}',
      (source, box) =>
        source.width / source.height >= box.width / box.height
          ? { ...inside(kept)(source, box) }
          : exact()(source, box),
      'photo.jpg',
    ],
    ['w:{w}/z:0.5', (source, box) => wide(kept)(source, { ...box, width: box.width / 2 })],
  ],
  marketplace: [
    ['rs:fill:{w}:{h}:1/g:sm/q:75/f:jpg', exact()],
    [
      'rs:fill:{h}:{h}/f:webp',
      (source, { height }) => clipped()(source, { width: height, height }),
    ],
    ['rs:fill:{w}:{h}/dpr:2/f:webp', limited(2)],
    [
      'rs:fit:{w}:{h}/dpr:[1~2~1.5~3~2]/q:60',
      (source, box) =>
        inside({
          ...kept,
          dpr: [1, 2, 1.5, 3, 2][[320, 640, 300, 1_200, 180].indexOf(box.width)] ?? 1,
        })(source, box),
    ],
    [
      'rs:fit:{w}:{h}/exar:1/bg:fff',
      (source, box) => {
        const { width, height } = inside(kept)(source, box);
        const ratio = box.width / box.height;
        return width / height > ratio
          ? { width, height: Math.round(width / ratio) }
          : { width: Math.round(height * ratio), height };
      },
    ],
    ['rs:fit:{w}:{h}/bl:[3~5~10~15~30]', inside(kept)],
    ['bg:255:255:255/w:{w}/f:jpg', wide(kept), 'logo.png'],
    ['rs:fill:{w}:{h}:1/g:we:10:0', exact()],
    ['rs:fill:{w}:{h}:1/g:no:0:20', exact()],
    ['pr:card/q:60', fixed(200, 150)],
    ['fill/{w}/{h}/sm/0', clipped()],
    ['fit/{w}/{h}/no/1', inside()],
    ['w:{w}/wm:0.6:noea:8:8', wide(kept)],
    ['w:{w}/wm:0.3:re:0:0', wide(kept)],
    ['w:{w}/wmu:{b}/wm:0.8:soea:10:10:0.15', wide(kept)],
    ['rs:fill:{w}:{h}/[ush:always:1:24~aq:dssim:0.02~jpgo:1~pngo:1~dpi:300]', clipped()],
    [
      'rs:fit:{w}:{h}/[gr:0.8:000~col:0.3:fa8072~ba:10:0.2:0.2:0.3:0.3~a:10:1.2~car:1]',
      inside(kept),
    ],
    ['c:600:600:sm/w:{w}', ofPart({ width: 600, height: 600 }, wide(kept)), 'photo.jpg'],
    ['rs:fill:{w}:{h}/q:[50~60~70~80~90]/f:[webp~avif~jpg~png~webp]', clipped()],
    ['s:{w}:{h}:1:1/bg:fff', exact()],
  ],
};

export const imgproxySamples = (base: string): readonly Sample[] =>
  toSamples(
    'imgproxy',
    templates,
    (options, picture) =>
      ['/unsafe', options, 'plain', `${base}/${picture}`].filter(Boolean).join('/'),
    base,
  );
