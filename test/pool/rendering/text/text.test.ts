// Own process: it gives the whole process its fonts.
import t from 'tap';
import { hasMissingGlyphs } from '../../../../pool/rendering/text/font-folder.ts';
import { maxCharacters } from '../../../../pool/rendering/text/words.ts';
import { text, useFonts } from './drawn-text.ts';
import { arabic } from './font-files.ts';

// The damaged fonts do not disturb the others.
await useFonts(t, {
  'arabic.woff2': arabic,
  'damaged.woff2': arabic.subarray(0, 9_000),
  'none.ttf': Buffer.from('no font'),
});
const sentence = 'The quick brown fox jumps over the lazy dog';

t.test('sizes a text to its lines', async (t) => {
  const single = await text('Hx');
  t.equal(single.height, 56, 'one line of 1.4 x 40 pixels');
  // In Open Sans, an H is 0.714 high, with 0.098 of space in front.
  const { left, top, bottom } = single.ink();
  t.ok(Math.abs(bottom - top + 1 - 28.6) < 1.5, `a height of ${bottom - top + 1}`);
  t.ok(left >= 3 && left <= 5, `a left edge of ${left}`);
  t.equal((await text('H\nx')).height, 112);
  const small = await text('.');
  t.equal(small.height, 56, 'also of a small letter');
  t.equal(small.ink().bottom, bottom, 'on the same baseline');
});

t.test('sets the size in pixels', async (t) => {
  const [small, large] = [await text('Hx', { size: 20 }), await text('Hx', { size: 80 })];
  t.equal(small.height, 28);
  t.equal(large.height, 112);
  t.ok(Math.abs(large.width / small.width - 4) < 0.2, `${large.width} and ${small.width}`);
});

t.test('limits the font size so that each line fits the box', async (t) => {
  const box = { width: 900, height: 70 };
  t.ok((await text('Hx', { size: 1_000 }, box)).equals(await text('Hx', { size: 50 }, box)));
});

t.test('finds the largest size that fits', async (t) => {
  const box = { width: 300, height: 100 };
  const word = await text('Hello', { size: 'fit' }, box);
  t.ok(word.width > 240 || word.height > 90, `${word.width} x ${word.height}`);
  t.ok(word.height <= 100 && word.width <= 300);
  const line = await text(sentence, { size: 'fit', maxLines: 1 }, box);
  t.ok(line.width > 250 && line.height < 30, `${line.width} x ${line.height}`);
  const lines = await text(sentence, { size: 'fit' }, box);
  t.ok(lines.darkness > 2 * line.darkness, 'several lines are larger');
  const padded = await text('Hello', { size: 'fit', padding: 20 }, box);
  t.ok(padded.width <= 300 && padded.height <= 100);
  // Larger letters would fit, if the word were broken.
  const narrow = await text('mmmmmmmm', { size: 'fit' }, { width: 100, height: 300 });
  t.ok(narrow.height < 30, `one line of ${narrow.height}`);
});

t.test('sets the weight', async (t) => {
  const darkness: number[] = [];
  for (const weight of [300, 400, 500, 600, 700, 800]) {
    darkness.push((await text('Weight', { weight })).darkness);
  }
  t.same(
    darkness,
    [...new Set(darkness)].sort((a, b) => a - b),
    'more ink with each weight',
  );
  t.ok((await text('Weight', { weight: 900 })).equals(await text('Weight', { weight: 800 })));
});

t.test('sets colour, opacity and background', async (t) => {
  t.same([...(await text('Hx', { color: '#12ab34ff' })).colours], ['12ab34']);
  const half = await text('H', { color: '#ff000080' });
  const { left, top } = half.ink();
  t.same(half.at(left + 1, top + 10), [255, 0, 0, 128]);
  t.equal((await text('Hx', { color: '#ff000000' })).darkness, 0);
  const made = await text('H', { color: '#ffffffff', background: '#0000ffff' });
  t.same(made.at(0, 0), [0, 0, 255, 255]);
  t.ok(made.colours.has('ffffff') && made.colours.has('0000ff'));
  const thin = await text('H', { color: '#ff0000ff', background: '#0000ff80' });
  t.same(thin.at(0, 0), [0, 0, 255, 128]);
  t.ok(thin.colours.has('ff0000'), 'the words are opaque on it');
});

t.test('adds the padding', async (t) => {
  const [plain, padded] = [await text('Hx'), await text('Hx', { padding: 17 })];
  t.same([padded.width, padded.height], [plain.width + 34, plain.height + 34]);
  t.equal(padded.ink().left, plain.ink().left + 17);
  t.equal(padded.ink().top, plain.ink().top + 17);
  const tight = await text('Hx', { padding: 500 }, { width: 30, height: 20 });
  t.ok(tight.width <= 30 && tight.height <= 20);
});

t.test('breaks lines at the width and aligns them', async (t) => {
  const words = 'wwwwwwwwwwww iii';
  const [left, center, right] = [
    await text(words, { align: 'left' }),
    await text(words, { align: 'center' }),
    await text(words, { align: 'right' }),
  ];
  for (const aligned of [left, center, right]) {
    t.same([aligned.width, aligned.height], [left.width, 112]);
    t.same(aligned.line(0), left.line(0), 'the longest line is as wide as the picture');
  }
  const middle = ({ left, right }: { left: number; right: number }) => (left + right) / 2;
  t.ok(left.line(1).left < 8);
  t.ok(right.line(1).right > right.width - 8);
  t.ok(Math.abs(middle(center.line(1)) - center.width / 2) < 3);
});

t.test('breaks a word wider than the box, with no hyphens', async (t) => {
  const made = await text('H'.repeat(30));
  t.equal(made.height, 56 * 3);
  for (const line of [0, 1]) t.ok(made.line(line).right > 370, `line ${line} is full`);
  const [word, letter] = [await text('n'.repeat(40)), await text('n')];
  t.ok(Math.abs(word.darkness - 40 * letter.darkness) < 20, 'only the letters have ink');
});

t.test('ends with an ellipsis after the maximum number of lines', async (t) => {
  t.equal((await text(sentence, { maxLines: 3 })).height, 56 * 3);
  const two = await text(sentence, { maxLines: 2 });
  t.equal(two.height, 56 * 2);
  const shown = await text('The quick brown fox\njumps over the lazy…', { maxLines: 2 });
  t.ok(two.line(1).right > 330, 'the line is full');
  t.same(two.line(0), shown.line(0));
  t.ok((await text('one\ntwo', { maxLines: 1 })).equals(await text('one…')));
  t.ok((await text('one\ntwo', { maxLines: 2 })).equals(await text('one\ntwo')));
  const box = { width: 400, height: 120 };
  t.equal((await text(sentence, {}, box)).height, 112, 'as many lines as fit the box');
});

t.test('shows markup in words literally', async (t) => {
  const marked = await text('<b>&amp;</b>');
  t.ok(marked.width > (await text('&')).width * 4);
  for (const words of ['</span>', '<span size="99999">x', '&', '&#0;', '&bogus;', `"'>`, ']]>']) {
    t.ok((await text(words)).darkness > 10, words);
  }
  t.notOk((await text('<i>')).equals(await text('[i]')));
});

t.test('draws Greek, Cyrillic, Hebrew and Vietnamese in the packaged family', async (t) => {
  const box = await text('\u{e000}');
  for (const letter of ['Ω', 'Ж', 'ש', 'ộ', 'ß', 'ł', '€']) {
    const drawn = await text(letter);
    t.ok(drawn.darkness > 50, letter);
    t.ok(drawn.ink().right < box.ink().right, `${letter} is not a box with its code`);
  }
  const mixed = await text('Aж', { weight: 800 });
  t.ok(mixed.darkness > 1.3 * (await text('Aж', { weight: 300 })).darkness);
});

t.test('draws Hebrew lines from right to left, and aligns absolutely', async (t) => {
  // The dot is narrower than the letter. It is at the end of the line, on the left.
  const made = await text('שששש.');
  const reversed = await text('.שששש');
  t.ok(made.ink().bottom === reversed.ink().bottom && !made.equals(reversed));
  const dot = (await text('.')).darkness;
  const part = (from: number, width: number) => {
    let sum = 0;
    for (let x = from; x < from + width; x += 1) {
      for (let y = 0; y < made.height; y += 1) sum += (made.at(x, y)[3] ?? 0) / 255;
    }
    return Math.round(sum);
  };
  t.ok(Math.abs(part(0, 11) - dot) < 8, `${part(0, 11)} and ${dot}`);
  const [left, right] = [
    await text('שששששש\nש', { align: 'left' }),
    await text('שששששש\nש', { align: 'right' }),
  ];
  t.ok(left.line(1).left < 8 && left.line(1).right < left.width / 2);
  t.ok(right.line(1).right > right.width - 8);
  const english = await text('שש\nabc', { align: 'left' });
  t.ok(english.line(1).left < 8);
});

t.test('joins Arabic letters of an added font', async (t) => {
  const font = 'Noto Sans Arabic';
  const joined = await text('بيت', { font });
  const single = await text('ب ي ت', { font });
  t.ok(joined.darkness > 100 && joined.width < 0.8 * single.width);
  t.ok(
    (await text('بيت')).equals(joined),
    'a family without a letter uses another one that has it',
  );
  t.ok((await text('abc', { font })).darkness > 100, 'and the other way round');
});

t.test('draws characters missing from every font as boxes with their codes', async (t) => {
  const [smile, heart] = [await text('😀'), await text('你')];
  t.ok(smile.darkness > 100 && heart.darkness > 100);
  t.notOk(smile.equals(heart));
  t.ok((await text('a😀b')).width > smile.width);
  t.ok((await text('👩‍👩‍👧‍👦🏳️‍🌈')).darkness > 100);
});

t.test('finds words with characters missing from every font', (t) => {
  const drawable = [
    'Größe – 19,90 €',
    'Ǖǵ',
    'a\u0301e\u0323',
    'שלום',
    'مرحبا',
    'two\nlines\u00a0\u3000\t\u200d\ufe0f\u0007',
    '',
  ];
  for (const words of drawable) t.notOk(hasMissingGlyphs(words), words);
  for (const words of ['Sale 😀', '你', 'नमस्ते', '\u{10ffff}', '\ue000', 'x\ufffe']) {
    t.ok(hasMissingGlyphs(words), words);
  }
  t.end();
});

t.test('removes control characters, and breaks lines at line separators', async (t) => {
  const plain = await text('ab');
  t.ok((await text('a\0\x07\x1b\x7f\u0080b')).equals(plain));
  t.ok((await text(' \n ab \n ')).equals(plain));
  const lines = await text('a\nb');
  for (const words of ['a\r\nb', 'a\rb', 'a\u2028b', 'a\u2029b', 'a\u0085b']) {
    t.ok((await text(words)).equals(lines), encodeURIComponent(words));
  }
  t.ok((await text('a\tb')).equals(await text('a b')));
  t.ok((await text('a\ud800b')).darkness > 10, 'half of a surrogate pair');
});

t.test('ends unclosed bidi controls with their line', async (t) => {
  t.ok((await text('\u202eabc\nxyz')).line(1).right > 40);
  const [below, plain] = [await text('\u202eabc\nxyz'), await text('abc\nxyz')];
  t.same(below.line(1), plain.line(1));
  t.ok((await text('\u202eabc')).equals(await text('cba')), 'an override reverses letters');
  for (const control of '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u2066\u2067\u2068\u2069') {
    t.equal((await text(`${control}ab${control}`)).height, 56);
    t.ok((await text(control.repeat(200))).width >= 1);
  }
});

t.test('draws words that lack ink as a transparent pixel', async (t) => {
  for (const words of ['', ' ', '\n\n', '\u200b', '\u00a0']) {
    const made = await text(words, { background: '#ff0000ff', padding: 9 });
    t.same([made.width, made.height, made.at(0, 0)], [1, 1, [0, 0, 0, 0]], JSON.stringify(words));
  }
});

t.test('draws the maximum number of characters, and rejects more', async (t) => {
  const refused = { name: 'ServiceError', code: 'parameter_invalid' };
  await t.rejects(text('x'.repeat(10_000)), { ...refused, message: /more than 500 characters/ });
  await t.rejects(text('x'.repeat(maxCharacters + 1)), refused);
  await t.rejects(text('x'.repeat(10_000_000)), refused);
  await t.rejects(text(`a${'\u0301'.repeat(32)}`), { ...refused, message: /code units/ });
  for (const unit of ['x', 'W ', 'x\n', '﷽', `a${'\u0301'.repeat(31)}`, '👩‍👩‍👧‍👦', 'ش']) {
    const words = unit.repeat(Math.floor(maxCharacters / [...unit].length));
    for (const size of [4, 40, 1_000, 'fit'] as const) {
      t.ok((await text(words, { size })).darkness > 5, `${JSON.stringify(unit)} at ${size}`);
    }
  }
});

t.test('draws tiny boxes', async (t) => {
  for (const [width, height] of [
    [1, 1],
    [1, 300],
    [400, 1],
    [3, 3],
  ] as const) {
    for (const size of [1, 40, 'fit'] as const) {
      const made = await text('Hello World', { size, background: '#ff0000ff' }, { width, height });
      t.ok(made.width >= 1 && made.height >= 1, `${width} x ${height} at ${size}`);
    }
  }
});

t.test('rejects an unknown family', async (t) => {
  for (const font of ['Comic Sans', 'Open Sans, serif', 'sans', '']) {
    await t.rejects(text('a', { font }), {
      code: 'parameter_invalid',
      message: `The font family ${font} is not available.`,
    });
  }
});
