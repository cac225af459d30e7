import t from 'tap';
import { toBody, toValues } from '../../../server/console/page/schema.ts';
import { ruledParameter } from '../../../server/control/image-schemas.ts';

t.test('keeps the values of flags, and of flags with a keyword', async (t) => {
  const fields = [
    ['enlarge', ruledParameter('enlarge')],
    ['flip', ruledParameter('flip')],
  ] as const;
  for (const body of [{ enlarge: 'box' }, { enlarge: true, flip: false }, { enlarge: false }]) {
    t.same(toBody(fields, toValues(fields, body)), body);
  }
});
