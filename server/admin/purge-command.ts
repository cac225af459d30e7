import type { Command } from 'commander';
import { namingOptions } from './option-names.ts';
import { withStore } from './store.ts';
import { AdminError, print } from './terminal.ts';

export function addPurgeCommand(program: Command): void {
  program
    .command('purge')
    .description('purge the cached images of sources')
    .argument('<project>', 'project id')
    .argument('[urls...]', 'sources, as in image URLs')
    .option('--all', 'purge all images')
    .action((id: string, sources: string[], { all = false }: { all?: boolean }) => {
      if (all === sources.length > 0) throw new AdminError('Name sources, or add --all.');
      return withStore(async (store, settings) => {
        const { purgeImages, purgeInput, requireValid, createServices } = await import(
          './control.ts'
        );
        const input = all ? { all } : { sources };
        const { sourceCount } = await namingOptions({ sources: 'the URL' }, async () => {
          requireValid(purgeInput, input);
          return purgeImages(createServices(store, settings), id, input);
        });
        const sourcesText = `${sourceCount} source${sourceCount === 1 ? '' : 's'}`;
        const purged = all ? 'All images are' : `The images of ${sourcesText} are`;
        print(`${purged} purged. The running service applies this within 2 seconds.`);
      });
    });
}
