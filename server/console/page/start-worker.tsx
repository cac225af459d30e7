import { launchCommand } from './launch-command.ts';

export function StartWorker() {
  return (
    <>
      <code>{launchCommand('start', 'npm start')}</code> runs one with the service,{' '}
      <code>{launchCommand('worker', 'npm run start:worker')}</code> runs only a worker.
    </>
  );
}
