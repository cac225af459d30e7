import { runAdmin } from './command.ts';

// Bundles have no await of a module.
void runAdmin(process.argv);
