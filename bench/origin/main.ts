import { Command, InvalidArgumentError } from 'commander';
import { startOrigin } from './origin.ts';

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535) {
    throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
  }
  return port;
}

const command = new Command('sample-origin')
  .description('Serves the sample pictures until SIGINT or SIGTERM.')
  .option('--port <port>', 'port on 127.0.0.1; 0 takes a free one', toPort, 0)
  .parse();
const { port } = command.opts<{ port: number }>();

try {
  const origin = await startOrigin({ port });
  const stop = () => void origin.close();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.stdout.write(`${origin.url}\n`);
} catch (error) {
  command.error(`cannot listen: ${error instanceof Error ? error.message : String(error)}`);
}
