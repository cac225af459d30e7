import type { Command } from 'commander';
import { ServiceError } from '../../contract/errors.ts';
import type { Store } from '../../store/open.ts';
import type { PresetResource } from '../control/preset-resource.ts';
import type { Preset } from '../control/schemas.ts';
import type { WithStore } from './store.ts';
import { AdminError, print, printTable } from './terminal.ts';

export function addPresetCommands(program: Command, withStore: WithStore): void {
  const group = program
    .command('presets')
    .description('image parameters that a project keeps under a name');
  const change = (action: (presets: PresetResource) => Promise<readonly Preset[]>) =>
    withStore(async (store) => printPresets(await worded(async () => action(await open(store)))));

  group
    .command('list')
    .description("list a project's presets")
    .argument('<project>')
    .action((project: string) => change((presets) => presets.list(project)));

  group
    .command('set')
    .description("create or replace a preset; prints the project's presets")
    .argument('<project>')
    .argument('<name>', 'a lower-case letter, and more of them, digits, - and _')
    .argument('<parameters>', 'as in a URL: "w=400&h=300&fit=cover"')
    .action((project: string, name: string, query: string) =>
      change(async (presets) => {
        const { presetOfQuery } = await import('../control/preset-query.ts');
        const { validationErrors: faultsOf } = await import('../control/validate.ts');
        const input = { parameters: presetOfQuery(query) };
        const faults = faultsOf('PresetInput', input);
        if (faults.length > 0) throw new AdminError(`${faults.join('; ')}.`);
        await presets.put(project, name, input);
        return presets.list(project);
      }),
    );

  group
    .command('delete')
    .description('delete a preset; prints those that are left')
    .argument('<project>')
    .argument('<name>')
    .action((project: string, name: string) =>
      change(async (presets) => {
        // Throws when there is none: the API's call may be repeated, a person has mistyped the name.
        await presets.find(project, name);
        return presets.remove(project, name);
      }),
    );
}

async function open({ projects }: Store): Promise<PresetResource> {
  const { PresetResource: Operations } = await import('../control/preset-resource.ts');
  // The processes of a running service find the change by polling the store.
  return new Operations({ projects, onChange: () => {} });
}

async function worded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw error instanceof ServiceError ? new AdminError(error.message) : error;
  }
}

function printPresets(presets: readonly Preset[]): void {
  if (presets.length === 0) return print('The project has no presets.');
  printTable(
    ['NAME', 'PARAMETERS'],
    presets.map(({ name, parameters }) => [
      name,
      new URLSearchParams(
        Object.entries(parameters).map(([key, value]) => [key, String(value)] as [string, string]),
      )
        .toString()
        .replaceAll('%2C', ','),
    ]),
  );
}
