import type { Command } from 'commander';
import { addItemCommands } from './item-commands.ts';

export function addPresetCommands(program: Command): void {
  const group = program
    .command('presets')
    .description("manage a project's presets, which are named image parameters");
  addItemCommands(group, {
    load: async () => (await import('../control/resources/presets.ts')).presets,
    argument: '<name>',
    listDescription: "list a project's presets",
    deleteDescription: 'delete a preset',
    cells: ({ name, parameters }) => {
      const texts = Object.entries(parameters).map(([key, value]): [string, string] => [
        key,
        String(value),
      ]);
      const query = new URLSearchParams(texts).toString().replaceAll('%2C', ',');
      return { NAME: name, PARAMETERS: query };
    },
    empty: 'The project has no presets.',
    addSet: (command, set) =>
      command
        .description('create or replace a preset')
        .argument('<name>', 'a lower-case letter, then lower-case letters, digits, - and _')
        .argument('<parameters>', 'as in a URL: "w=400&h=300&fit=cover"')
        .action((project: string, name: string, query: string) =>
          set(project, name, async () => {
            const { presetOfQuery } = await import('./preset-query.ts');
            return { parameters: presetOfQuery(query) };
          }),
        ),
  });
}
