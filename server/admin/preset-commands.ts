import type { Command } from 'commander';
import type { PresetResource } from '../control/preset-resource.ts';
import type { Preset } from '../control/schemas.ts';
import { withStore } from './store.ts';
import { AdminError, print, printTable } from './terminal.ts';

export function addPresetCommands(program: Command): void {
  const group = program.command('presets').description('named image parameters of a project');
  /** Runs an action on the presets and prints its result. */
  const run = (action: (presets: PresetResource) => Promise<readonly Preset[]>) =>
    withStore(async ({ projects }) => {
      const { presetResource } = await import('../control/preset-resource.ts');
      // The processes of a running service find changes by polling the store.
      printPresets(await action(presetResource({ projects, onChange: () => {} })));
    });

  group
    .command('list')
    .description("list a project's presets")
    .argument('<project>')
    .action((project: string) => run((presets) => presets.list(project)));

  group
    .command('set')
    .description("create or replace a preset; prints the project's presets")
    .argument('<project>')
    .argument('<name>', 'a lower-case letter, then lower-case letters, digits, - and _')
    .argument('<parameters>', 'as in a URL: "w=400&h=300&fit=cover"')
    .action((project: string, name: string, query: string) =>
      run(async (presets) => {
        const { presetOfQuery } = await import('../control/preset-query.ts');
        const { validationErrors } = await import('../control/validate.ts');
        const input = { parameters: presetOfQuery(query) };
        const errors = validationErrors('PresetInput', input);
        if (errors.length > 0) throw new AdminError(`${errors.join('; ')}.`);
        await presets.put(project, name, input);
        return presets.list(project);
      }),
    );

  group
    .command('delete')
    .description('delete a preset; prints the remaining ones')
    .argument('<project>')
    .argument('<name>')
    .action((project: string, name: string) =>
      run(async (presets) => {
        // Throws for an unknown name, which is probably mistyped; the API ignores it.
        await presets.find(project, name);
        return presets.remove(project, name);
      }),
    );
}

function printPresets(presets: readonly Preset[]): void {
  if (presets.length === 0) return print('The project has no presets.');
  const rows = presets.map(({ name, parameters }) => {
    const texts = Object.entries(parameters).map(([key, value]): [string, string] => [
      key,
      String(value),
    ]);
    return [name, new URLSearchParams(texts).toString().replaceAll('%2C', ',')];
  });
  printTable(['NAME', 'PARAMETERS'], rows);
}
