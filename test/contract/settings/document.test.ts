import { parseEnv } from 'node:util';
import t from 'tap';
import { settingsExample, settingsMarkdown } from '../../../contract/settings/document.ts';
import { loadSettings } from '../../../contract/settings/load.ts';
import { settingRows } from '../../../contract/settings/table.ts';

t.test('the table has a row for every setting, with default and meaning', async (t) => {
  const [head, line, ...rows] = settingsMarkdown().split('\n');
  t.equal(head, '| Variable | Default | Meaning |');
  t.match(line, /^\|( -+ \|){3}$/);
  t.equal(rows.length, settingRows.length);
  for (const [index, [, { variable, meaning }]] of settingRows.entries()) {
    const cells = rows[index]?.split('|').map((cell) => cell.trim()) ?? [];
    t.equal(cells.length, 5, 'nothing in a cell breaks the table');
    t.equal(cells[1], `\`${variable}\``);
    t.not(cells[2], '');
    t.notMatch(cells[2], /undefined|null|=>|\[object/);
    t.equal(cells[3], meaning);
  }
});

t.test('the example file changes nothing as it is, and works when uncommented', async (t) => {
  const example = settingsExample();
  t.same(parseEnv(example), {});
  const uncommented = parseEnv(example.replace(/^#(SERVICE_)/gm, '$1'));
  t.same(Object.keys(uncommented).sort(), settingRows.map(([, one]) => one.variable).sort());
  t.same(loadSettings(uncommented as Record<string, string>), loadSettings({}));
});
