import { runAdmin } from './command.ts';

// Bundles cannot await at the top level.
void runAdmin(process.argv);
