import type { Command } from 'commander';
import type { Store } from '../../store/open.ts';
import { requireProject } from '../require-project.ts';
import { Activity } from '../usage/activity/activity.ts';
import { withStore } from './store.ts';
import { jsonOption, print, printable, printList } from './terminal.ts';

/**
 * Returns what the service's processes have stored for a project, which excludes the last minute.
 */
async function readActivity(store: Store, id: string) {
  requireProject(id, await store.projects.find(id));
  return new Activity({ records: store.activity, now: Date.now }).of(id);
}

const delay = 'Requests appear after up to a minute.';

export function addActivityCommands(program: Command): void {
  program
    .command('failures')
    .description("list a project's last failures")
    .argument('<project>', 'project id')
    .option(...jsonOption)
    .action((id: string, { json = false }: { json?: boolean }) =>
      withStore(async (store) => {
        const { failuresBody } = await import('../control/resources/activity.ts');
        printList({
          json,
          items: failuresBody(await readActivity(store, id)),
          fields: (failure) => failure,
          cells: ({ at, status, code, count, url }) => ({
            'TIME (UTC)': at.slice(0, 19).replace('T', ' '),
            STATUS: String(status),
            CODE: code,
            COUNT: String(count),
            URL: url,
          }),
          empty: `No failures in the last day. ${delay}`,
        });
      }),
    );

  program
    .command('top')
    .description("list a project's most requested sources of the last day")
    .argument('<project>', 'project id')
    .option('--hour', 'use the last hour')
    .option('--variants', 'list parameter sets instead of sources')
    .option('--json', 'print all figures of the last hour and day')
    .action((id: string, options: { hour?: boolean; variants?: boolean; json?: boolean }) =>
      withStore(async (store) => {
        const { topBody } = await import('../control/resources/activity.ts');
        const top = topBody(await readActivity(store, id));
        if (options.json === true) return print(printable(JSON.stringify(top)));
        const { sources, variants } = options.hour === true ? top.hour : top.day;
        const named =
          options.variants === true
            ? variants.map(({ variant, requests }) => ({ name: variant, requests }))
            : sources.map(({ source, requests }) => ({ name: source, requests }));
        printList({
          json: false,
          items: named,
          fields: (item) => item,
          cells: ({ name, requests }) => ({ REQUESTS: String(requests), NAME: name }),
          empty: `No delivered images. ${delay}`,
        });
      }),
    );
}
