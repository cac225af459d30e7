import { parseEnv } from 'node:util';
import t from 'tap';
import { loadSettings } from '../../contract/settings/load.ts';
import { settingRows } from '../../contract/settings/table.ts';
import { settingsExample, settingsMarkdown } from './tables.ts';

t.test('the table of settings has a default and a meaning for each of them', async (t) => {
  const [, , ...rows] = settingsMarkdown().split('\n');
  t.equal(rows.length, settingRows.length);
  for (const [index, [, { variable, meaning }]] of settingRows.entries()) {
    const [, name, value, text, ...rest] = rows[index]?.split('|').map((cell) => cell.trim()) ?? [];
    t.same([name, text, rest], [`\`${variable}\``, meaning, ['']]);
    t.match(value, /^(?!.*(undefined|null|=>|\[object))./, variable);
  }
});

t.test('.env.example changes nothing, also when its lines are uncommented', async (t) => {
  const example = settingsExample();
  t.same(parseEnv(example), {});
  const uncommented = parseEnv(example.replace(/^#(SERVICE_)/gm, '$1'));
  t.same(Object.keys(uncommented).sort(), settingRows.map(([, one]) => one.variable).sort());
  t.same(loadSettings(uncommented as Record<string, string>), loadSettings({}));
});
