import { text } from 'node:stream/consumers';
import { raisePriority, runPlan } from './generator.ts';
import type { LoadPlan } from './load.ts';

/** The generator in its own process: a plan as JSON on standard input, the result on standard output. */
const plan: LoadPlan = JSON.parse(await text(process.stdin));
raisePriority();
process.stdout.write(JSON.stringify(await runPlan(plan)));
