import { Command } from 'commander';
import { numberFrom } from '../arguments.ts';
import { startSampleOrigin } from './origin.ts';

const command = new Command('sample-origin')
  .description('Serves the sample pictures until SIGINT or SIGTERM.')
  .option('--port <port>', 'port on 127.0.0.1; 0 takes a free one', numberFrom(0, 65_535), 0)
  .parse();
const { port } = command.opts<{ port: number }>();

try {
  const origin = await startSampleOrigin(port);
  const stop = () => void origin.close();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.stdout.write(`${origin.url}\n`);
} catch (error) {
  command.error(`cannot listen: ${error instanceof Error ? error.message : String(error)}`);
}
