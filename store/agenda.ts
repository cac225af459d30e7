import { setTimeout as sleep } from 'node:timers/promises';
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import type { Db } from 'mongodb';

export const jobsCollection = 'jobs';

const reconnectEveryMs = 1_000;

/** Agenda begins to connect when it is made and lets a failure of that go unhandled. */
class PatientBackend extends MongoBackend {
  override async connect(): Promise<void> {
    for (;;) {
      try {
        return await super.connect();
      } catch {
        await sleep(reconnectEveryMs, undefined, { ref: false });
      }
    }
  }
}

/** An Agenda on the store's connection; it becomes ready when the store answers. */
export function createAgenda(
  db: Db,
  options: Omit<ConstructorParameters<typeof Agenda>[0], 'backend'> = {},
): Agenda {
  const backend = new PatientBackend({
    mongo: db,
    collection: jobsCollection,
    logCollection: 'jobLogs',
  });
  return new Agenda({ ...options, backend });
}
