import type { Command } from 'commander';
import type { Preset, presets } from '../control/resources/presets.ts';
import type { Services } from '../control/services.ts';
import { withStore } from './store.ts';
import { jsonOption, printList } from './terminal.ts';

type Action = (
  resource: typeof presets,
  services: Pick<Services, 'projects' | 'onChange'>,
) => Promise<readonly Preset[]>;

export function addPresetCommands(program: Command): void {
  const group = program
    .command('presets')
    .description("manage a project's presets, which are named image parameters");
  /** Runs an action on the presets and prints its result. */
  const run = (action: Action, json = false) =>
    withStore(async ({ projects }) => {
      const { presets } = await import('../control/resources/presets.ts');
      // The processes of a running service find changes by polling the store.
      printPresets(await action(presets, { projects, onChange: () => {} }), json);
    });

  group
    .command('list')
    .description("list a project's presets")
    .argument('<project>')
    .option(...jsonOption)
    .action((project: string, { json }: { json?: boolean }) =>
      run((presets, services) => presets.list(services, project), json),
    );

  group
    .command('set')
    .description('create or replace a preset')
    .argument('<project>')
    .argument('<name>', 'a lower-case letter, then lower-case letters, digits, - and _')
    .argument('<parameters>', 'as in a URL: "w=400&h=300&fit=cover"')
    .action((project: string, name: string, query: string) =>
      run(async (presets, services) => {
        const { presetInput } = await import('../control/resources/presets.ts');
        const { requireValid } = await import('../control/validate.ts');
        const { presetOfQuery } = await import('./preset-query.ts');
        const input = { parameters: presetOfQuery(query) };
        requireValid(presetInput, input);
        await presets.put(services, project, name, input);
        return presets.list(services, project);
      }),
    );

  group
    .command('delete')
    .description('delete a preset')
    .argument('<project>')
    .argument('<name>')
    .action((project: string, name: string) =>
      run(async (presets, services) => {
        // Throws for an unknown name, which is probably mistyped; the API ignores it.
        await presets.find(services, project, name);
        return presets.remove(services, project, name);
      }),
    );
}

const printPresets = (presets: readonly Preset[], json: boolean): void =>
  printList({
    json,
    items: presets,
    fields: (preset) => preset,
    cells: ({ name, parameters }) => {
      const texts = Object.entries(parameters).map(([key, value]): [string, string] => [
        key,
        String(value),
      ]);
      const query = new URLSearchParams(texts).toString().replaceAll('%2C', ',');
      return { NAME: name, PARAMETERS: query };
    },
    empty: 'The project has no presets.',
  });
