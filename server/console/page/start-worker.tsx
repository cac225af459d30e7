import { ownCommand } from './own-command.ts';

export function StartWorker() {
  return (
    <>
      <code>{ownCommand('start', 'npm start')}</code> runs one with the service,{' '}
      <code>{ownCommand('worker', 'npm run start:worker')}</code> runs only a worker.
    </>
  );
}
