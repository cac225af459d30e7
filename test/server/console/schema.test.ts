import t from 'tap';
import { readOpenApi } from '../../../server/console/page/api/openapi.ts';
import {
  chooseKind,
  getFields,
  getWords,
  toBody,
  toValues,
} from '../../../server/console/page/api/schema.ts';
import { openApiDocument } from '../../../server/control/openapi.ts';

t.test('keeps the values of flags, and of flags with a keyword', async (t) => {
  const { getBody } = readOpenApi(openApiDocument('http://localhost:3000'));
  const { parameters } = getBody('putProjectPreset').properties ?? {};
  const { enlarge = {}, flip = {} } = parameters?.properties ?? {};
  const schema = { properties: { enlarge, flip } };
  const controls = getFields(schema).map(([name, schema]) => [
    name,
    chooseKind(schema),
    getWords(schema),
  ]);
  t.same(controls, [
    ['enlarge', 'flag', ['box']],
    ['flip', 'flag', []],
  ]);
  for (const body of [{ enlarge: 'box' }, { enlarge: true, flip: false }, { enlarge: false }]) {
    t.same(toBody(schema, toValues(schema, body)), body);
  }
});
