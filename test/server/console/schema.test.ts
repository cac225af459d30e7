import t from 'tap';
import { parametersIn, readOpenApi } from '../../../server/console/page/api/openapi.ts';
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

t.test('offers the fields of an image in the URL next to it', async (t) => {
  const description = readOpenApi(openApiDocument('http://localhost:3000'));
  const options = { overlay: '/a.png', 'overlay.w': '20p', overlay4: '/b.png', 'text.price': '5' };
  t.same(parametersIn({ ...options, 'overlay.z': '1', overlay5: '/c.png' }, description), options);
  const needs = new Map(description.parameters.map(({ name, needs }) => [name, needs]));
  const belonging = ['w', 'overlay', 'overlay.w', 'overlay2', 'overlay4.radius'];
  t.same(
    belonging.map((name) => needs.get(name)),
    [undefined, undefined, 'overlay', 'overlay', 'overlay4'],
  );
});
