import fc from 'fast-check';
import t from 'tap';
import {
  readAddress,
  readOptions,
  requireKnown,
  unknownWarnings,
} from '../../../server/image/address.ts';
import { propertyRuns } from '../../extended.ts';

const read = (query: string) => readAddress('/img/https://e.com/a.jpg', `project=p&${query}`);

t.test(
  'reports all parameters as unknown except those that the service or trackers use',
  async (t) => {
    const own = 'w=1&fmt=webp&url=a&exp=1&sig=a&layer=a&text.a=b';
    t.same(read(own).unknown, []);
    const trackers = 'UTM_Source=a&utm_id=1&_hsenc=a&__hstc=a&fbclid=a&gad_source=1&_gl=a&mc_cid=a';
    t.same(read(`${trackers}&=1&&`).unknown, []);
    t.same(read('magnify=2&resize=100x100&magnify=3&utm=1').unknown, ['magnify', 'resize', 'utm']);
  },
);

t.test('writes a short warning that senders cannot forge', async (t) => {
  t.equal(unknownWarnings([]), '');
  t.equal(
    unknownWarnings(['a"b\\c\r\nx: y', 'ü']),
    ['parameter_unknown;name="a?b?c??x: y"', 'parameter_unknown;name="?"'].join(', '),
  );
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  t.match(unknownWarnings(many), /name="e", parameter_unknown;others=2$/);
  const form = /^(?:(?:^|, )parameter_unknown;(?:name="[ !#-[\]-~]{0,40}"|others=\d+))*$/;
  const names = fc.array(fc.string({ unit: 'binary', maxLength: 100 }), { maxLength: 100 });
  fc.assert(
    fc.property(names, (given) => {
      const warnings = unknownWarnings(given);
      return warnings.length < 400 && form.test(warnings);
    }),
    { numRuns: propertyRuns(1_000) },
  );
});

t.test('suggests the likely parameter if the service is strict', async (t) => {
  const messages = {
    fm: 'fm is not a parameter. Did you mean fmt?',
    sharp: 'sharp is not a parameter. Did you mean sharpen?',
    bakgrund: 'bakgrund is not a parameter. Did you mean background?',
    magnify: 'magnify is not a parameter.',
    x: 'x is not a parameter.',
    ['\ud83d'.repeat(50)]: `${'\ufffd'.repeat(40)} is not a parameter.`,
    ['a'.repeat(5_000)]: `${'a'.repeat(40)} is not a parameter.`,
  };
  for (const [name, message] of Object.entries(messages)) {
    const refuse = () => requireKnown(read(`w=1&${encodeURIComponent(name.toWellFormed())}=2`));
    t.throws(refuse, { code: 'parameter_invalid', message }, name.slice(0, 20));
  }
  t.doesNotThrow(() => requireKnown(read('w=1&utm_source=a')));
});

t.test('suggests the word that a value stands for', async (t) => {
  const message = (query: string) => {
    try {
      readOptions(new Map(new URLSearchParams(query)));
    } catch (error) {
      return /Did you mean .*$/.exec((error as Error).message)?.[0] ?? 'none';
    }
    return '';
  };
  t.equal(message('fmt=webpp'), 'Did you mean webp?');
  t.equal(message('fit=cotnain'), 'Did you mean contain?');
  t.equal(message('fit=crop'), 'Did you mean cover?', "another service's word");
  t.equal(message('fmt=bmp'), 'none');
  t.equal(message('fit=__proto__'), 'none');
  t.equal(message('w=many'), 'none');
});
